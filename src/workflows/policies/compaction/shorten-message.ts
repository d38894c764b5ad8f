import { COMPACTION_LIMITS } from '../../../contracts/constants/limits.js';
import type { JsonValue, Message, Part } from '../../../contracts/schemas/message.js';

const { shortenedHeadChars, shortenedTailChars } = COMPACTION_LIMITS;

/** Room for the mark, so that a shortened text is never shortened again. */
const MARK_CHARS_MAX = 60;

/**
 * An old answer without its thinking, and with long texts cut to their beginning and end: its own and those in the arguments of its calls.
 * Undefined when nothing is left. The same object when nothing gets shorter.
 */
export function shortenMessage(message: Message): Message | undefined {
  if (message.role !== 'assistant') return message;
  const parts = message.parts.flatMap(shortenPart);
  if (parts.length === 0 && message.parts.length > 0) return undefined;
  const isSame = parts.length === message.parts.length && parts.every((part, index) => part === message.parts[index]);
  return isSame ? message : { ...message, parts };
}

function shortenPart(part: Part): Part[] {
  switch (part.type) {
    // providers accept signed thinking only whole: it is dropped, never cut
    case 'thinking':
      return [];
    case 'text':
      return isLong(part.text) ? [{ ...part, text: shortenText(part.text) }] : [part];
    case 'tool_call': {
      const args = shortenJson(part.args);
      const argsText = part.argsText === undefined ? {} : { argsText: shortenText(part.argsText) };
      return args === part.args && argsText.argsText === part.argsText ? [part] : [{ ...part, args, ...argsText }];
    }
    case 'tool_result':
    case 'file':
    case 'artifact':
      return [part];
  }
}

/** The value with its long texts cut; the same object when there are none. */
function shortenJson(value: JsonValue): JsonValue {
  if (typeof value === 'string') return shortenText(value);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const items = value.map(shortenJson);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const fields = Object.entries(value).map(([key, field]) => [key, shortenJson(field)] as const);
  return fields.every(([key, field]) => field === value[key]) ? value : Object.fromEntries(fields);
}

function shortenText(text: string): string {
  if (!isLong(text)) return text;
  const left = text.length - shortenedHeadChars - shortenedTailChars;
  return `${text.slice(0, shortenedHeadChars)}\n[${left} characters left out]\n${text.slice(-shortenedTailChars)}`.toWellFormed();
}

function isLong(text: string): boolean {
  return text.length > shortenedHeadChars + shortenedTailChars + MARK_CHARS_MAX;
}
