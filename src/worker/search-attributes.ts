import type { Connection, ConnectionLike } from '@temporalio/client';
import { SEARCH_ATTRIBUTES, type SearchAttributeName } from '../contracts/constants/search-attributes.js';

/** The search attributes of runs that are registered in a namespace. Empty if the client has no permission to list them. */
export async function listSearchAttributes(connection: ConnectionLike, namespace: string): Promise<string[]> {
  const operator = 'operatorService' in connection ? connection.operatorService : undefined;
  if (!isOperator(operator)) return [];
  try {
    const { customAttributes } = await operator.listSearchAttributes({ namespace });
    return Object.keys(SEARCH_ATTRIBUTES).filter((name) => Object.hasOwn(customAttributes, name));
  } catch {
    // a run works without search attributes, but a write of an unregistered one fails forever
    return [];
  }
}

interface Operator {
  listSearchAttributes(request: { namespace: string }): Promise<{ customAttributes: object }>;
}

function isOperator(value: unknown): value is Operator {
  return value !== null && typeof value === 'object' && 'listSearchAttributes' in value;
}

/** The result of a registration. */
export interface RegisteredSearchAttributes {
  readonly registered: readonly SearchAttributeName[];
  /** The attributes that this call registered. */
  readonly added: readonly SearchAttributeName[];
}

/** Values of Temporal's IndexedValueType. */
const INDEXED_VALUE_TYPE = { KEYWORD: 2, INT: 3, DOUBLE: 4 } as const;

/** The names of SEARCH_ATTRIBUTES as typed keys. */
const NAMES = Object.keys(SEARCH_ATTRIBUTES).filter((name): name is SearchAttributeName => Object.hasOwn(SEARCH_ATTRIBUTES, name));

/**
 * Registers all search attributes of runs in a namespace. Idempotent. Needs the permission to administer the namespace. Rejects with
 * the server's error without it, or if a name is registered with a different type.
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
