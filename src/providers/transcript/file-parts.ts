import type { FilePart, Part } from '../../contracts/schemas/message.js';
import { cleanText } from '../../contracts/text/sanitize-text.js';

/** Files that are text all through. */
const TEXT_MIME = /^text\/|^application\/(?:json|xml|yaml|javascript|.+\+(?:json|xml))(?:;|$)/u;

/** Parts as one text, for places where a wire format takes only text. A file of text is told, other files are named. */
export function partsText(parts: readonly Part[]): string {
  const texts = parts.map(partText).filter((text) => text !== '');
  return texts.length > 0 ? texts.join('\n') : '(empty)';
}

function partText(part: Part): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'artifact':
      return `${part.head}\n[${part.bytes} bytes in all, kept as artifact ${part.ref}]`;
    case 'file':
      return fileText(part);
    case 'thinking':
    case 'tool_call':
    case 'tool_result':
      return '';
  }
}

function fileText({ mime, ref, dataBase64 }: FilePart): string {
  const name = `[file ${mime}${ref === undefined ? '' : ` ${ref}`}]`;
  if (dataBase64 === undefined || !TEXT_MIME.test(mime)) return name;
  return `${name}\n${cleanText(Buffer.from(dataBase64, 'base64').toString())}`;
}
