import type { JsonValue } from '../../contracts/schemas/message.js';

/** A line that opens a code block, whatever language it names. */
const FENCE = /^[ \t]*```[\w+-]*[ \t]*$/u;
const CLOSING = '```';

/**
 * The JSON of an answer: the whole text, or what stands in its only code fence. Nothing else is repaired, because what a model meant is
 * the model's to say. Takes time linear in the text, whatever it holds. Never throws.
 */
export function answerJson(text: string): { readonly value: JsonValue } | { readonly problem: string } {
  const whole = parse(text.replace(/^\uFEFF/u, ''));
  if ('value' in whole) return whole;
  const blocks = codeBlocks(text.replaceAll('\r\n', '\n'));
  const [only] = blocks;
  if (only === undefined) return { problem: `it is not JSON alone: ${whole.problem}` };
  if (blocks.length > 1) return { problem: `it has ${blocks.length} code blocks; give one JSON value alone` };
  const inside = parse(only);
  return 'value' in inside ? inside : { problem: `its code block is not JSON: ${inside.problem}` };
}

/** What stands between fences, line by line; a block may end behind its last line of content, and one that is never closed is none. */
function codeBlocks(text: string): string[] {
  const blocks: string[] = [];
  let inside: string[] | undefined;
  for (const line of text.split('\n')) {
    const end = line.trimEnd();
    if (!inside) inside = FENCE.test(line) ? [] : undefined;
    else if (end.endsWith(CLOSING)) {
      blocks.push([...inside, end.slice(0, -CLOSING.length)].join('\n'));
      inside = undefined;
    } else inside.push(line);
  }
  return blocks;
}

function parse(text: string): { readonly value: JsonValue } | { readonly problem: string } {
  try {
    // what JSON.parse gives is JSON
    return { value: JSON.parse(text) as JsonValue };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
