import type {
  ContentBlockParam,
  DocumentBlockParam,
  ImageBlockParam,
  TextBlockParam,
  ToolResultBlockParam,
} from '@anthropic-ai/sdk/resources/messages';
import { z } from 'zod';
import type { ContentPart, FilePart, Part, ThinkingPart } from '../../contracts/schemas/message.js';
import { wireCallId } from '../transcript/call-ids.js';
import { partsText } from '../transcript/file-parts.js';
import { sentArguments } from '../transcript/parse-arguments.js';
import type { ToolNames } from '../transcript/tool-names.js';

type ShownPart = Exclude<Part, ThinkingPart>;

/** Blocks of parts, for as long as anybody holds those: a transcript is sent many times, and each part is the same object in it. */
const known = new WeakMap<ShownPart, { readonly names: ToolNames; readonly blocks: readonly ContentBlockParam[] }>();

/** The block of a part, the same object for the same part; none for blank text, which the API refuses. */
export function anthropicBlock(part: ShownPart, names: ToolNames): readonly ContentBlockParam[] {
  const found = known.get(part);
  if (found?.names === names) return found.blocks;
  const blocks = toBlock(part, names);
  known.set(part, { names, blocks });
  return blocks;
}

function toBlock(part: ShownPart, names: ToolNames): ContentBlockParam[] {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }];
    case 'tool_call':
      return [{ type: 'tool_use', id: wireCallId(part.callId), name: names.wire(part.name), input: sentArguments(part) }];
    case 'tool_result':
      return [toolResult(part.callId, part.isError, part.parts)];
    case 'file':
    case 'artifact':
      return [fileBlock(part)];
  }
}

function toolResult(callId: string, isError: boolean, parts: readonly ContentPart[]): ToolResultBlockParam {
  const files = parts.filter(isShown);
  const rest = parts.filter((part) => !isShown(part));
  const text = rest.length > 0 || files.length === 0 ? [{ type: 'text' as const, text: partsText(rest) }] : [];
  return { type: 'tool_result', tool_use_id: wireCallId(callId), is_error: isError, content: [...text, ...files.map(shownBlock)] };
}

/** What the API looks at itself; other files are named. */
const ShownMime = z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'application/pdf']);

type ShownFile = FilePart & { readonly dataBase64: string; readonly mime: z.infer<typeof ShownMime> };

function isShown(part: ContentPart): part is ShownFile {
  return part.type === 'file' && part.dataBase64 !== undefined && ShownMime.safeParse(part.mime).success;
}

function fileBlock(part: ContentPart): TextBlockParam | ImageBlockParam | DocumentBlockParam {
  return isShown(part) ? shownBlock(part) : { type: 'text', text: partsText([part]) };
}

function shownBlock({ mime, dataBase64: data }: ShownFile): ImageBlockParam | DocumentBlockParam {
  if (mime === 'application/pdf') return { type: 'document', source: { type: 'base64', media_type: mime, data } };
  return { type: 'image', source: { type: 'base64', media_type: mime, data } };
}
