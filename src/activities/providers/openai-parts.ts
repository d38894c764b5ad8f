import type { ChatCompletionContentPart } from 'openai/resources/chat/completions';
import type { FilePart, Part } from '../../contracts/schemas/message.js';
import { partsText } from '../../providers/transcript/file-parts.js';

/** What a server of chat completions can be shown. */
export interface ShownKinds {
  readonly images: boolean;
  readonly files: boolean;
}

type InlineFile = FilePart & { readonly dataBase64: string };

const IMAGES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

/** The parts of a user's message: what can be shown as it is, and all else as one text before it. */
export function openAiContent(parts: readonly Part[], kinds: ShownKinds): string | ChatCompletionContentPart[] {
  const shown = shownFiles(parts, kinds);
  if (shown.length === 0) return partsText(parts);
  const rest = parts.filter((part) => part.type !== 'file' || !isShown(part, kinds));
  return rest.length === 0 ? shown.map(fileBlock) : [{ type: 'text', text: partsText(rest) }, ...shown.map(fileBlock)];
}

/** The files among parts that a server can be shown. */
export function shownFiles(parts: readonly Part[], kinds: ShownKinds): InlineFile[] {
  return parts.filter((part): part is InlineFile => part.type === 'file' && isShown(part, kinds));
}

function isShown(part: FilePart, { images, files }: ShownKinds): part is InlineFile {
  if (part.dataBase64 === undefined) return false;
  return part.mime === 'application/pdf' ? files : images && IMAGES.has(part.mime);
}

function fileBlock({ mime, dataBase64 }: InlineFile): ChatCompletionContentPart {
  const url = `data:${mime};base64,${dataBase64}`;
  if (IMAGES.has(mime)) return { type: 'image_url', image_url: { url } };
  return { type: 'file', file: { filename: 'document.pdf', file_data: url } };
}
