import type { ConnectionLike } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../contracts/search-attributes.js';

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
