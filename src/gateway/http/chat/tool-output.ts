import type { ContentPart } from '../../../contracts/schemas/message.js';

/** The text that the model read. A result with files is the list of its parts. */
export type ToolOutput = string | ContentPart[];

/** The output of a result, as a page gets it. */
export function outputOf(parts: readonly ContentPart[]): ToolOutput {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === parts.length ? texts.join('\n') : [...parts];
}

/** The text of a result that is an error. */
export function errorTextOf(output: ToolOutput): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}
