import type { FilePart, Message, Part } from '../schemas/message.js';

/** English text and code have about four characters a token. Other scripts have fewer; the reported usage corrects the estimate. */
export const CHARS_PER_TOKEN = 4;

/** Upper estimate for an image, whose tokens depend on its pixels, not on its bytes. Source: the vision guides of hosted models. */
const PICTURE_TOKENS = 1_600;

/** Estimated tokens of messages: a quarter of their characters, each message rounded up. Never throws. */
export function estimateTokens(messages: readonly Message[]): number {
  return messages.reduce((sum, { parts }) => sum + Math.ceil(charsOf(parts) / CHARS_PER_TOKEN), 0);
}

/** Characters of parts. An image counts at most 6,400 characters; another file by value counts its base64 text. */
export function charsOf(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + partChars(part), 0);
}

function partChars(part: Part): number {
  switch (part.type) {
    case 'text':
      return part.text.length;
    case 'thinking':
      return part.text.length + (part.opaque?.length ?? 0);
    case 'tool_call':
      return part.name.length + (part.argsText?.length ?? 0) + (part.opaque?.length ?? 0) + JSON.stringify(part.args).length;
    case 'tool_result':
      return charsOf(part.parts);
    case 'file':
      return part.mime.length + (part.ref?.length ?? 0) + dataChars(part);
    case 'artifact':
      return part.ref.length + part.head.length;
  }
}

function dataChars({ mime, dataBase64 = '' }: FilePart): number {
  return mime.startsWith('image/') ? Math.min(dataBase64.length, PICTURE_TOKENS * CHARS_PER_TOKEN) : dataBase64.length;
}
