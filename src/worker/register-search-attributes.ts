import type { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES, type SearchAttributeName } from '../contracts/search-attributes.js';

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
