import { describe, expect, it } from 'vitest';
import { filesProblem } from '../../../src/contracts/files/file-problem.js';
import { readImage } from '../../../src/contracts/files/image-size.js';

const PIXEL = {
  png: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  gif: 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7',
  webp: 'UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAgA0JaQAA3AA/vuUAAA=',
};

describe('filesProblem', () => {
  it.each(Object.entries(PIXEL))('A14: a whole %s image of one pixel is sent', (format, data) => {
    expect(readImage(Buffer.from(data, 'base64'))).toEqual({ format, width: 1, height: 1 });
    expect(problemOf(`image/${format}`, data)).toBeUndefined();
  });

  it('A14: a JPEG states its size behind segments of any length', () => {
    const jpeg = jpegOf(640, 480, 60_000);
    expect(readImage(jpeg)).toEqual({ format: 'jpeg', width: 640, height: 480 });
    expect(problemOf('image/jpeg', jpeg.toString('base64'))).toBeUndefined();
    expect(problemOf('image/jpeg', jpeg.subarray(0, 1_000).toString('base64'))).toContain('not a complete jpeg image');
  });

  it.each([
    ['empty', 'image/png', '', 'BAD_FILE: the file of type "image/png" is empty'],
    ['an empty text', 'text/plain', ' ', 'BAD_FILE: the file of type "text/plain" is empty'],
    ['a web page', 'image/png', b64('<html>'), 'BAD_IMAGE: the data is not a complete png image'],
    ['another format', 'image/jpeg', PIXEL.png, 'BAD_IMAGE: the data is a png image, and its type says jpeg'],
    ['cut in its header', 'image/png', PIXEL.png.slice(0, 24), 'BAD_IMAGE: the data is not a complete png image'],
    ['no base64', 'image/gif', 'no base64!', 'BAD_IMAGE: the data of type "image/gif" is not base64'],
    ['a bomb', 'image/png', pngOf(50_000, 50_000), 'BAD_IMAGE: the image is 50000 × 50000 pixels; at most 16384 a side'],
    ['a flat bomb', 'image/png', pngOf(16_000, 16_000), 'BAD_IMAGE: the image is 16000 × 16000 pixels'],
    ['without pixels', 'image/png', pngOf(0, 9), 'BAD_IMAGE: the image is 0 × 9 pixels'],
    ['an SVG with a script', 'image/svg+xml', b64('<svg><script>alert(1)</script></svg>'), 'BAD_IMAGE: the SVG contains scripts'],
    [
      'an SVG with a handler',
      'image/svg+xml; charset=utf-8',
      b64('<svg><a onclick = "x()"/></svg>'),
      'BAD_IMAGE: the SVG contains scripts',
    ],
    ['an SVG with an entity', 'image/svg+xml', b64('<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg/>'), 'BAD_IMAGE: the SVG'],
  ])('A14: a file that is %s is refused', (_, mime, data, problem) => {
    expect(problemOf(mime, data)).toContain(problem);
  });

  it('A14: a plain SVG, other files and files by reference are left to the provider', () => {
    expect(problemOf('image/svg+xml', b64('<svg><path d="M0 0"/></svg>'))).toBeUndefined();
    expect(problemOf('application/pdf', b64('%PDF'))).toBeUndefined();
    expect(filesProblem([{ type: 'file', mime: 'image/png', ref: 'sha256:0' }])).toBeUndefined();
  });

  it('A14: a file in the result of a call is found as well', () => {
    const file = { type: 'file', mime: 'image/png', dataBase64: b64('no') } as const;
    expect(filesProblem([{ type: 'tool_result', callId: 'a', isError: false, parts: [file] }])).toContain('BAD_IMAGE');
  });
});

function problemOf(mime: string, dataBase64: string): string | undefined {
  return filesProblem([
    { type: 'text', text: 'look' },
    { type: 'file', mime, dataBase64 },
  ]);
}

function b64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** The beginning of a PNG that states this size. */
function pngOf(width: number, height: number): string {
  const png = Buffer.from(PIXEL.png, 'base64');
  png.writeUInt32BE(width, 16);
  png.writeUInt32BE(height, 20);
  return png.toString('base64');
}

/** A JPEG with metadata before its frame header. */
function jpegOf(width: number, height: number, metadataBytes: number): Buffer {
  const metadata = Buffer.alloc(2 + metadataBytes);
  metadata.writeUInt16BE(0xffe1, 0);
  metadata.writeUInt16BE(metadataBytes, 2);
  const frame = Buffer.from([0xff, 0xff, 0xc2, 0, 17, 8, height >> 8, height & 255, width >> 8, width & 255, 3]);
  return Buffer.concat([Buffer.from([0xff, 0xd8]), metadata, frame, Buffer.alloc(20)]);
}
