import { HTTP_LIMITS } from '../../contracts/constants/limits.js';
import { HttpError } from './access/http-error.js';

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Reads a JSON body. Undefined for an empty one. Throws HttpError 400 for what is no JSON in UTF-8, 422 for deep nesting. */
export function readBody(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined;
  const value = parseJson(decode(bytes));
  // code that walks the value calls itself for each level
  if (isDeeperThan(value, HTTP_LIMITS.bodyDepthMax)) {
    throw new HttpError(422, 'BAD_OPTION', `the body has more than ${HTTP_LIMITS.bodyDepthMax} levels`);
  }
  return value;
}

function decode(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new HttpError(400, 'BAD_BODY', 'the body is not UTF-8');
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpError(400, 'BAD_BODY', 'the body is not JSON');
  }
}

function isDeeperThan(value: unknown, levels: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > levels) return true;
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  }
  return false;
}
