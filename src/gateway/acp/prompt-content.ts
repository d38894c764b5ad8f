import type { ContentBlock } from '@agentclientprotocol/sdk';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { SendInput, SentPart } from '../../contracts/schemas/session.js';

/** What a prompt may contain besides text and links, as the server announces it. */
export const PROMPT_CAPABILITIES = { image: true, audio: false, embeddedContext: true } as const;

/** The message of a prompt. Throws PerdureError `BAD_MESSAGE` (2) for a block that the server does not announce. */
export function promptContent(blocks: readonly ContentBlock[]): Pick<SendInput, 'text' | 'parts'> {
  const parts: SentPart[] = [];
  for (const [index, block] of blocks.entries()) {
    const part = sentPart(block);
    const last = parts.at(-1);
    if (part.type === 'text' && last?.type === 'text') {
      // editors split a sentence at each link in it, and two texts are two paragraphs
      const isParagraph = block.type === 'text' && blocks[index - 1]?.type === 'text';
      parts[parts.length - 1] = { type: 'text', text: `${last.text}${isParagraph ? '\n\n' : ''}${part.text}` };
    } else parts.push(part);
  }
  const [only] = parts;
  if (parts.length > 1 || only?.type === 'file') return { parts };
  return { text: only?.text ?? '' };
}

/** The text of a prompt that answers a question. Throws `BAD_MESSAGE` (2) for a file. */
export function promptText(blocks: readonly ContentBlock[]): string {
  const { text } = promptContent(blocks);
  if (text === undefined) throw new PerdureError('BAD_MESSAGE', 'the answer to a question is a text', 2);
  return text;
}

function sentPart(block: ContentBlock): SentPart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'resource_link':
      return { type: 'text', text: `[${block.title ?? block.name}](${block.uri})` };
    case 'resource':
      if ('text' in block.resource) return { type: 'text', text: embedded(block.resource.uri, block.resource.text) };
      return { type: 'file', mime: block.resource.mimeType ?? 'application/octet-stream', dataBase64: block.resource.blob };
    case 'image':
      return { type: 'file', mime: block.mimeType, dataBase64: block.data };
    case 'audio':
      throw new PerdureError('BAD_MESSAGE', 'a prompt has text, images, links and resources; audio is not supported', 2);
  }
}

/** A file that the editor has open, with its text. */
function embedded(uri: string, text: string): string {
  return `\n<resource uri=${JSON.stringify(uri)}>\n${text}${text.endsWith('\n') ? '' : '\n'}</resource>\n`;
}
