/** The image formats that providers accept. */
export type ImageFormat = 'png' | 'jpeg' | 'gif' | 'webp';

/** The format and the size in pixels that the bytes of an image state. */
export interface ImageFacts {
  readonly format: ImageFormat;
  readonly width: number;
  readonly height: number;
}

/**
 * Reads format and size from the first bytes of an image, whatever its file name or type says. Undefined when the bytes are no image of
 * a known format, or end before its size. Decodes no pixels. Never throws.
 */
export function readImage(bytes: Uint8Array): ImageFacts | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const read = READERS.find(({ isIt }) => isIt(bytes));
  const size = read?.size(view);
  return read && size && { format: read.format, ...size };
}

type Size = Pick<ImageFacts, 'width' | 'height'>;

interface Reader {
  readonly format: ImageFormat;
  readonly isIt: (bytes: Uint8Array) => boolean;
  readonly size: (view: DataView) => Size | undefined;
}

const READERS: readonly Reader[] = [
  { format: 'png', isIt: (bytes) => startsWith(bytes, '\u0089PNG\r\n\u001A\n') && startsWith(bytes, 'IHDR', 12), size: pngSize },
  { format: 'gif', isIt: (bytes) => startsWith(bytes, 'GIF87a') || startsWith(bytes, 'GIF89a'), size: gifSize },
  { format: 'jpeg', isIt: (bytes) => startsWith(bytes, '\u00FF\u00D8\u00FF'), size: jpegSize },
  { format: 'webp', isIt: (bytes) => startsWith(bytes, 'RIFF') && startsWith(bytes, 'WEBP', 8), size: webpSize },
];

function startsWith(bytes: Uint8Array, text: string, at = 0): boolean {
  return Array.from(text, (character) => character.charCodeAt(0)).every((code, index) => bytes[at + index] === code);
}

function pngSize(view: DataView): Size | undefined {
  return view.byteLength < 24 ? undefined : { width: view.getUint32(16), height: view.getUint32(20) };
}

function gifSize(view: DataView): Size | undefined {
  return view.byteLength < 10 ? undefined : { width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

/** The size is in the first frame header, behind segments of any length. */
function jpegSize(view: DataView): Size | undefined {
  for (let at = 2; at + 9 <= view.byteLength; ) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    if (isFrameHeader(marker)) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    // a fill byte, or a marker without a segment
    if (marker === 0xff) at += 1;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2;
    else at += 2 + Math.max(2, view.getUint16(at + 2));
  }
  return undefined;
}

/** Of the markers C0 to CF, three define tables. */
function isFrameHeader(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function webpSize(view: DataView): Size | undefined {
  if (view.byteLength < 30) return undefined;
  switch (view.getUint32(12)) {
    // 'VP8 '
    case 0x56_50_38_20:
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    // 'VP8L'
    case 0x56_50_38_4c: {
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    // 'VP8X'
    case 0x56_50_38_58:
      return { width: (view.getUint32(24, true) & 0xff_ffff) + 1, height: (view.getUint32(27, true) & 0xff_ffff) + 1 };
    default:
      return undefined;
  }
}
