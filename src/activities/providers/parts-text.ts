import type { Part } from '../../contracts/message.js';

/** Parts as one text, for places where a wire format takes only text. What is no text is named. */
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
      return `[file ${part.mime}${part.ref === undefined ? '' : ` ${part.ref}`}]`;
    case 'thinking':
    case 'tool_call':
    case 'tool_result':
      return '';
  }
}
