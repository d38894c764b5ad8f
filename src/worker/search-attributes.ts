import type { Connection, ConnectionLike } from '@temporalio/client';
import { SEARCH_ATTRIBUTES, type SearchAttributeName } from '../contracts/search-attributes.js';

/** The attributes of SEARCH_ATTRIBUTES that a namespace knows; none when the server does not let this client look. */
export async function listSearchAttributes(connection: ConnectionLike, namespace: string): Promise<string[]> {
  const operator = 'operatorService' in connection ? connection.operatorService : undefined;
  if (!isOperator(operator)) return [];
  try {
    const { customAttributes } = await operator.listSearchAttributes({ namespace });
    return Object.keys(SEARCH_ATTRIBUTES).filter((name) => Object.hasOwn(customAttributes, name));
  } catch {
    // no right to look: a run without search attributes works, one that writes an unknown key fails for ever
    return [];
  }
}

interface Operator {
  listSearchAttributes(request: { namespace: string }): Promise<{ customAttributes: object }>;
}

function isOperator(value: unknown): value is Operator {
  return value !== null && typeof value === 'object' && 'listSearchAttributes' in value;
}

/** What the namespace knows now. */
export interface RegisteredSearchAttributes {
  readonly registered: readonly SearchAttributeName[];
  /** Those that this call added. */
  readonly added: readonly SearchAttributeName[];
}

/** Numbers of Temporal's IndexedValueType. */
const INDEXED_VALUE_TYPE = { KEYWORD: 2, INT: 3, DOUBLE: 4 } as const;

/** The names of SEARCH_ATTRIBUTES, in the type of a key. */
const NAMES = Object.keys(SEARCH_ATTRIBUTES).filter((name): name is SearchAttributeName => Object.hasOwn(SEARCH_ATTRIBUTES, name));

/**
 * Makes the namespace know all search attributes a run writes; doing it again changes nothing. Needs the right to administer
 * the namespace: rejects with the server's error without it, or when a name is taken with another type.
 */
export async function registerSearchAttributes(connection: Connection, namespace: string): Promise<RegisteredSearchAttributes> {
  const known = await listRegistered(connection, namespace);
  const missing = NAMES.filter((name) => !known.has(name));
  if (missing.length > 0) {
    const searchAttributes = Object.fromEntries(missing.map((name) => [name, INDEXED_VALUE_TYPE[SEARCH_ATTRIBUTES[name]]]));
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  }
  return { registered: NAMES, added: missing };
}

async function listRegistered(connection: Connection, namespace: string): Promise<ReadonlySet<string>> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  return new Set(Object.keys(customAttributes));
}
