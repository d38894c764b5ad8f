import { TOOL_LIMITS } from '../contracts/limits.js';
import { ContentPart, cleanText } from '../contracts/message.js';
import type { ToolReturn } from '../define/define-tool.js';
import { truncateOutput } from './tools/truncate-output.js';

/** A tool's return value as content parts: text stays text, JSON becomes its text, large text is cut on line boundaries with a footer. Throws for what is no JSON. */
export function toolResultParts(value: ToolReturn): ContentPart[] {
  if (typeof value === 'string') return [text(value)];
  if (isContent(value)) return value.map((part) => (part.type === 'text' ? text(part.text) : part));
  return [text(JSON.stringify(value) ?? 'null')];
}

function text(given: string): ContentPart {
  const cut = truncateOutput(cleanText(given), {
    bytesMax: TOOL_LIMITS.outputBytesMax,
    linesMax: TOOL_LIMITS.outputLinesMax,
    keep: 'head-tail',
  });
  return { type: 'text', text: cut.text };
}

function isContent(value: ToolReturn): value is readonly ContentPart[] {
  return Array.isArray(value) && value.length > 0 && value.every((part) => ContentPart.safeParse(part).success);
}
