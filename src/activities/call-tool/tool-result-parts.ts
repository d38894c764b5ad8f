import { ContentPart } from '../../contracts/schemas/message.js';
import type { ToolReturn } from '../../define/define-tool.js';

/**
 * A tool's return value as content parts of any size: text stays text, and JSON becomes text. Throws a TypeError `TOOL_RESULT` for a value
 * that is not JSON.
 */
export function toolResultParts(value: ToolReturn): ContentPart[] {
  if (typeof value === 'string') return [text(value)];
  if (isContent(value)) return [...value];
  return [text(jsonText(value))];
}

function text(given: string): ContentPart {
  return { type: 'text', text: given };
}

function isContent(value: ToolReturn): value is readonly ContentPart[] {
  return Array.isArray(value) && value.length > 0 && value.every((part) => ContentPart.safeParse(part).success);
}

function jsonText(value: ToolReturn): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    throw new TypeError(`TOOL_RESULT: the tool returned a value that is not JSON: ${jsonProblem(value, error)}`, { cause: error });
  }
}

/** The advice for what plain JavaScript returns most often, else the first line of the error. */
function jsonProblem(value: unknown, error: unknown): string {
  const key = keyOfBigInt(value);
  if (key !== undefined)
    return `${key === '' ? 'it' : JSON.stringify(key)} is a BigInt. Return String(value), or Number(value) if it is small.`;
  const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return /circular/u.test(reason) ? 'it contains itself. Return plain data.' : reason;
}

/** The key of the BigInt that cannot be written: empty for the value itself. Undefined if something else cannot be written. */
function keyOfBigInt(value: unknown): string | undefined {
  let found: string | undefined;
  try {
    JSON.stringify(value, (key, given: unknown) => {
      if (typeof given === 'bigint') found ??= key;
      return given;
    });
    return undefined;
  } catch {
    return found;
  }
}
