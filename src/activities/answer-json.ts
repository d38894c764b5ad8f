import type { JsonValue } from '../contracts/message.js';

/** One block between fences, whatever language it names. */
const FENCED = /^[ \t]*```[\w+-]*[ \t]*\n(?<inside>.*?)\n?[ \t]*```[ \t]*$/gmsu;

/**
 * The JSON of an answer: the whole text, or what stands in its only code fence. Nothing else is repaired, because what a model meant is
 * the model's to say. Never throws.
 */
export function answerJson(text: string): { readonly value: JsonValue } | { readonly problem: string } {
  const whole = parse(text.replace(/^\uFEFF/u, ''));
  if ('value' in whole) return whole;
  const blocks = [...text.replaceAll('\r\n', '\n').matchAll(FENCED)].map(({ groups }) => groups?.['inside'] ?? '');
  const [only] = blocks;
  if (only === undefined) return { problem: `it is not JSON alone: ${whole.problem}` };
  if (blocks.length > 1) return { problem: `it has ${blocks.length} code blocks; give one JSON value alone` };
  const inside = parse(only);
  return 'value' in inside ? inside : { problem: `its code block is not JSON: ${inside.problem}` };
}

function parse(text: string): { readonly value: JsonValue } | { readonly problem: string } {
  try {
    // what JSON.parse gives is JSON
    return { value: JSON.parse(text) as JsonValue };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
