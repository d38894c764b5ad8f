import { TOOL_LIMITS } from '../../../contracts/constants/limits.js';
import type { Message, TextPart, ToolResultPart } from '../../../contracts/schemas/message.js';
import { charsOf } from '../../../contracts/text/estimate-tokens.js';

/** A transcript with one shortened result, and the sizes of that result. */
export interface ShortenedResult {
  readonly messages: readonly Message[];
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

/** The kept size, which is still useful to a model. A result of less than twice that is not shortened. */
const KEPT_CHARS = TOOL_LIMITS.outputCharsMin;
const WORTH_CHARS = 2 * KEPT_CHARS;

/**
 * The last resort against a context overflow: cuts the largest tool result to its beginning and end, and replaces files in it by a mark.
 * Undefined when no result is large enough.
 */
export function shortenLargestResult(messages: readonly Message[]): ShortenedResult | undefined {
  let largest: { readonly at: number; readonly index: number; readonly part: ToolResultPart; readonly chars: number } | undefined;
  for (const [at, { parts }] of messages.entries()) {
    for (const [index, part] of parts.entries()) {
      if (part.type !== 'tool_result') continue;
      const chars = charsOf(part.parts);
      if (chars > WORTH_CHARS && chars > (largest?.chars ?? 0)) largest = { at, index, part, chars };
    }
  }
  const message = largest && messages[largest.at];
  if (!largest || !message) return undefined;
  const shortened = shortenResult(largest.part);
  if (charsOf([shortened]) >= largest.chars) return undefined;
  const parts = message.parts.with(largest.index, shortened);
  return {
    messages: messages.with(largest.at, { ...message, parts }),
    bytesBefore: bytesOf(largest.part),
    bytesAfter: bytesOf(shortened),
  };
}

function shortenResult(part: ToolResultPart): ToolResultPart {
  const artifacts = part.parts.filter(({ type }) => type === 'artifact');
  const text = part.parts.flatMap(textFor).join('\n');
  return { ...part, parts: [{ type: 'text', text: bothEnds(text) }, ...artifacts] };
}

function textFor(part: ToolResultPart['parts'][number]): string[] {
  switch (part.type) {
    case 'text':
      return [part.text];
    case 'file':
      return [`[${part.mime} left out${part.ref === undefined ? '' : `: ${part.ref}`}]`];
    case 'artifact':
      return [];
  }
}

function bothEnds(text: string): TextPart['text'] {
  if (text.length <= KEPT_CHARS) return text;
  const left = text.length - KEPT_CHARS;
  const mark = `\n[${left} characters left out: the request was larger than the model's context window]\n`;
  return `${text.slice(0, KEPT_CHARS / 2)}${mark}${text.slice(-KEPT_CHARS / 2)}`.toWellFormed();
}

function bytesOf(part: ToolResultPart): number {
  return new TextEncoder().encode(JSON.stringify(part.parts)).length;
}
