import { ContentPart } from '../../contracts/schemas/message.js';
import type { ToolReturn } from '../../define/define-tool.js';

/** A tool's return value as content parts of any size: text stays text, and JSON becomes text. Throws for a value that is not JSON. */
export function toolResultParts(value: ToolReturn): ContentPart[] {
  if (typeof value === 'string') return [text(value)];
  if (isContent(value)) return [...value];
  return [text(JSON.stringify(value) ?? 'null')];
}

function text(given: string): ContentPart {
  return { type: 'text', text: given };
}

function isContent(value: ToolReturn): value is readonly ContentPart[] {
  return Array.isArray(value) && value.length > 0 && value.every((part) => ContentPart.safeParse(part).success);
}
