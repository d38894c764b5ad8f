import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';
import { ArtifactError, type ArtifactPage, type ArtifactStore } from '../artifacts/artifact-store.js';
import { ARTIFACT_LIMITS } from '../contracts/constants/limits.js';
import { cleanText } from '../contracts/text/sanitize-text.js';
import { defineTool, type ToolContext, type ToolDefinition } from '../define/define-tool.js';
import { decodeWhole, formatBytes } from '../output/truncate-output.js';

/** The name of the tool that reads pages of a cut output. Footers of cut outputs contain it. */
export const READ_ARTIFACT = 'read_artifact';

const Parameters = z.strictObject({
  ref: z.string().max(200).describe('Reference of the output, from the footer of a cut result: sha256:….'),
  offset: z.number().int().min(0).optional().describe('First byte to read, counted from 0. Default 0.'),
  bytes: z
    .number()
    .int()
    .min(1)
    .max(ARTIFACT_LIMITS.pageBytes)
    .optional()
    .describe(`Maximum number of bytes to read. Default ${ARTIFACT_LIMITS.pageBytes}.`),
});
type Parameters = z.infer<typeof Parameters>;

/** The space reserved for the footer. */
const FOOTER_BYTES = 260;

/** The minimum size of a page, so that a run with small bounds makes progress. */
const PAGE_BYTES_MIN = 200;

/** An invalid byte or NUL becomes up to three bytes of UTF-8. */
const GROWTH_MAX = 3;

/**
 * Creates the tool that reads pages of a cut output. A reference grants access: it is the hash of the content, which cannot be guessed,
 * and a run sees only those of its own calls. A missing or damaged output is a failed result, never an empty text.
 */
export function createReadArtifact(store: ArtifactStore): ToolDefinition<Parameters> {
  return defineTool({
    name: READ_ARTIFACT,
    description:
      'Read a part of a tool output that was too long to show in full. The footer of a cut result contains the reference. ' +
      'Returns whole lines. The last line, in brackets, contains the offset of the next page.',
    parameters: Parameters,
    effect: 'read',
    pure: true,
    network: false,
    execute: ({ ref, offset = 0, bytes = ARTIFACT_LIMITS.pageBytes }: Parameters, { output }: ToolContext) => {
      const bytesMax = Math.max(PAGE_BYTES_MIN, Math.min(bytes, output.bytesMax - FOOTER_BYTES));
      return readPage(store, { ref, offset, bytesMax, linesMax: Math.max(1, output.linesMax - 2) });
    },
  });
}

interface Window {
  readonly ref: string;
  readonly offset: number;
  readonly bytesMax: number;
  readonly linesMax: number;
}

async function readPage(store: ArtifactStore, { ref, offset, bytesMax, linesMax }: Window): Promise<string> {
  const page = await readFrom(store, ref, { offset, bytes: bytesMax });
  const { size } = page;
  if (offset >= size && size > 0) throw new Error(`BAD_OFFSET: the output has ${size} bytes (${formatBytes(size)})`);
  const isRest = offset + page.bytes.length >= size;
  let read = pageEnd(page.bytes, { linesMax, isRest });
  let text = asText(page.bytes.subarray(0, read));
  if (Buffer.byteLength(text) > bytesMax) {
    read = pageEnd(page.bytes.subarray(0, Math.floor(bytesMax / GROWTH_MAX)), { linesMax, isRest: false });
    text = asText(page.bytes.subarray(0, read));
  }
  const next = offset + read;
  if (offset === 0 && next === size) return text;
  const where = next < size ? `next page: read_artifact {"ref":"${ref}","offset":${next}}` : 'end of the output';
  return `${ended(text)}[bytes ${offset}-${next - 1} of ${size}; ${where}]`;
}

async function readFrom(store: ArtifactStore, ref: string, window: { offset: number; bytes: number }): Promise<ArtifactPage> {
  try {
    return await store.read(ref, window);
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error;
    const isLost = error.code === 'BLOB_MISSING' || error.code === 'BLOB_CORRUPT';
    throw isLost ? new Error(`content lost: ${ref} (${error.message})`, { cause: error }) : error;
  }
}

/** The end of a page: after its last complete line, or after its last complete character if a line is longer than the page. */
function pageEnd(bytes: Buffer, { linesMax, isRest }: { linesMax: number; isRest: boolean }): number {
  let lastLine = 0;
  for (let line = 0; line < linesMax; line += 1) {
    const newline = bytes.indexOf(0x0a, lastLine);
    if (newline === -1) return isRest ? bytes.length : lastLine || lastCharacter(bytes);
    lastLine = newline + 1;
  }
  return lastLine;
}

/** The end of the last complete UTF-8 character. For invalid UTF-8, the end of the bytes. */
function lastCharacter(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length - 1); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 0;
    if (length > 0) return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function asText(bytes: Buffer): string {
  return cleanText(stripVTControlCharacters(decodeWhole(bytes)));
}

function ended(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
