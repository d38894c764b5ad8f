import type { JsonValue } from '../../contracts/schemas/message.js';

/** A line that opens a code block, with or without a language. */
const FENCE = /^[ \t]*```[\w+-]*[ \t]*$/u;
const CLOSING = '```';

/**
 * The JSON of an answer: the whole text, or the content of its only code block. Nothing is repaired, because a repair could change the
 * meaning. Takes time linear in the text. Never throws.
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

/** The contents of the code blocks. The closing fence may be at the end of the last line. An unclosed block is left out. */
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
    // JSON.parse returns only JSON values
    return { value: JSON.parse(text) as JsonValue };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
