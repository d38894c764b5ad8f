import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';
import { ArtifactError, type ArtifactPage, type ArtifactStore } from '../artifacts/artifact-store.js';
import { ARTIFACT_LIMITS } from '../contracts/constants/limits.js';
import { cleanText } from '../contracts/text/sanitize-text.js';
import { defineTool, type ToolContext, type ToolDefinition } from '../define/define-tool.js';
import { decodeWhole, formatBytes } from '../output/truncate-output.js';

/** The name of the tool that pages outputs which were cut; footers tell it to the model. */
export const READ_ARTIFACT = 'read_artifact';

const Parameters = z.strictObject({
  ref: z.string().max(200).describe('Reference of the output, as it stands in the footer of a cut result: sha256:….'),
  offset: z.number().int().min(0).optional().describe('First byte to read, counted from 0. Default 0.'),
  bytes: z
    .number()
    .int()
    .min(1)
    .max(ARTIFACT_LIMITS.pageBytes)
    .optional()
    .describe(`How many bytes to read at most. Default ${ARTIFACT_LIMITS.pageBytes}.`),
});
type Parameters = z.infer<typeof Parameters>;

/** Room in an answer for the footer that says how to read on. */
const FOOTER_BYTES = 260;

/** A page is never shorter than this, lest a run with small bounds reads for ever. */
const PAGE_BYTES_MIN = 200;

/** Bytes that are no text, and NUL, take up to three bytes of UTF-8 each. */
const GROWTH_MAX = 3;

/**
 * Makes the tool that pages outputs which were cut. Whoever has a reference may read it: it is the hash of the content, which nobody
 * guesses, and a run learns only those of its own calls. What is gone or damaged is a failed result, never an empty text.
 */
export function createReadArtifact(store: ArtifactStore): ToolDefinition<Parameters> {
  return defineTool({
    name: READ_ARTIFACT,
    description:
      'Read a part of a tool output that was too long to be shown whole. The footer of such a result names the reference. ' +
      'Returns whole lines; a last line in brackets says where the next page starts.',
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
  const where = next < size ? `the next page: read_artifact {"ref":"${ref}","offset":${next}}` : 'the end';
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

/** Where a page ends: behind its last whole line, or behind its last whole character when a line is longer than the page. */
function pageEnd(bytes: Buffer, { linesMax, isRest }: { linesMax: number; isRest: boolean }): number {
  let lastLine = 0;
  for (let line = 0; line < linesMax; line += 1) {
    const newline = bytes.indexOf(0x0a, lastLine);
    if (newline === -1) return isRest ? bytes.length : lastLine || lastCharacter(bytes);
    lastLine = newline + 1;
  }
  return lastLine;
}

/** Where the last whole character of UTF-8 ends; the end itself for bytes that are none. */
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
