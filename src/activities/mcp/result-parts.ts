import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import { MCP_LIMITS } from '../../contracts/constants/limits.js';
import type { ContentPart } from '../../contracts/schemas/message.js';
import { formatBytes } from '../../output/truncate-output.js';

/**
 * The content of a result, as parts for the model. Texts and embedded texts stay text, images stay images, structured content is text if
 * nothing else is there. What a model cannot be shown is named: an image that is too large, audio, binary data, unknown types.
 */
export function resultParts({ content, structuredContent }: Pick<CallToolResult, 'content' | 'structuredContent'>): ContentPart[] {
  const parts = content.map(contentPart);
  if (parts.length > 0) return parts;
  return [text(structuredContent === undefined ? '' : JSON.stringify(structuredContent))];
}

/** The texts of a result, for the message of an error. */
export function resultText(parts: readonly ContentPart[]): string {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.join('\n');
}

function contentPart(block: ContentBlock): ContentPart {
  switch (block.type) {
    case 'text':
      return text(block.text);
    case 'image':
      return filePart(block.data, block.mimeType);
    case 'audio':
      return text(`[audio of type ${block.mimeType}, ${sizeOf(block.data)}: not shown]`);
    case 'resource_link':
      return text(`[resource ${block.uri}${block.title ? `: ${block.title}` : ''}]`);
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return text(`${resource.uri}:\n${resource.text}`);
      return filePart(resource.blob, resource.mimeType ?? 'application/octet-stream');
    }
    default:
      return text(`[unsupported content: ${String(Reflect.get(block, 'type')).slice(0, 80)}]`);
  }
}

function filePart(data: string, mime: string): ContentPart {
  if (!mime.startsWith('image/')) return text(`[data of type ${mime}, ${sizeOf(data)}: not shown]`);
  if (data.length > base64Length(MCP_LIMITS.imageBytesMax))
    return text(`[image of type ${mime}, ${sizeOf(data)}: larger than ${formatBytes(MCP_LIMITS.imageBytesMax)}, so not shown]`);
  return { type: 'file', mime, dataBase64: data };
}

function sizeOf(data: string): string {
  return formatBytes(Math.floor((data.length * 3) / 4));
}

function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

function text(given: string): ContentPart {
  return { type: 'text', text: given };
}
