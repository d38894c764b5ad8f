import { CONTENT_LIMITS } from '../constants/limits.js';
import type { FilePart, Part } from '../schemas/message.js';
import { readImage } from './image-size.js';

/**
 * Why the files of a message cannot be sent to a model, in one line: an empty file, an image that is not what its type says, one that is
 * too large to decode, or an SVG with active content. Undefined when there is no problem. A file by reference is not read. Never throws.
 */
export function filesProblem(parts: readonly Part[]): string | undefined {
  for (const part of parts) {
    const problem = part.type === 'file' ? fileProblem(part) : part.type === 'tool_result' ? filesProblem(part.parts) : undefined;
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function fileProblem({ mime, dataBase64 }: FilePart): string | undefined {
  if (dataBase64 === undefined) return undefined;
  const type = mime.split(';')[0]?.trim().toLowerCase() ?? '';
  const shown = JSON.stringify(mime.slice(0, 80));
  if (dataBase64.trim() === '') return `BAD_FILE: the file of type ${shown} is empty`;
  if (!type.startsWith('image/')) return undefined;
  const bytes = decode(dataBase64);
  if (!bytes) return `BAD_IMAGE: the data of type ${shown} is not base64`;
  if (type === 'image/svg+xml') return ACTIVE.test(new TextDecoder().decode(bytes)) ? ACTIVE_SVG : undefined;
  return imageProblem(bytes, type);
}

const ACTIVE_SVG = 'BAD_IMAGE: the SVG contains scripts, event handlers, entities or embedded documents; send it as PNG';
const ACTIVE = /<\s*(?:[\w.-]+:)?(?:script|foreignObject|iframe|embed|object|handler)\b|\son[a-z]+\s*=|javascript\s*:|<!ENTITY/iu;

/** The formats whose bytes are checked. Providers refuse other formats themselves. */
const CHECKED: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
};

function imageProblem(bytes: Uint8Array, type: string): string | undefined {
  const named = CHECKED[type];
  const image = readImage(bytes);
  if (named === undefined) return image && sizeProblem(image);
  if (!image) return `BAD_IMAGE: the data is not a complete ${named} image`;
  if (image.format !== named) return `BAD_IMAGE: the data is a ${image.format} image, and its type says ${named}`;
  return sizeProblem(image);
}

/** A small file may state a size that no decoder has the memory for. */
function sizeProblem({ width, height }: { readonly width: number; readonly height: number }): string | undefined {
  const { imageSideMax: sideMax, imagePixelsMax: pixelsMax } = CONTENT_LIMITS;
  if (width === 0 || height === 0) return `BAD_IMAGE: the image is ${width} × ${height} pixels`;
  if (width <= sideMax && height <= sideMax && width * height <= pixelsMax) return undefined;
  return `BAD_IMAGE: the image is ${width} × ${height} pixels; at most ${sideMax} a side and ${pixelsMax} in all`;
}

function decode(dataBase64: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(dataBase64), (character) => character.charCodeAt(0));
  } catch {
    // atob throws for characters that are not base64
    return undefined;
  }
}
