import { Buffer } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { z } from 'zod';
import { TOOL_LIMITS } from '../contracts/constants/limits.js';
import { defineTool, type ToolContext, type ToolDefinition } from '../define/define-tool.js';
import { formatBytes } from '../output/truncate-output.js';
import { openFile, openJail } from './workspace/jail.js';
import { BINARY_PROBE_BYTES, looksBinary, type ReadLines, readLines } from './workspace/read-lines.js';
import { asWorkspaceError, shown, WorkspaceError } from './workspace/workspace-error.js';

/** One line of a result is kept for the footer. */
const LINES_MAX = TOOL_LIMITS.outputLinesMax - 1;

const Parameters = z.strictObject({
  path: z.string().min(1).describe('Path of the file, relative to the workspace.'),
  offset: z.number().int().min(1).optional().describe('First line to read, counted from 1. Default 1.'),
  limit: z.number().int().min(1).max(LINES_MAX).optional().describe(`Number of lines. Default ${LINES_MAX}.`),
});
type Parameters = z.infer<typeof Parameters>;

/** Room in an answer for the footer that says how to read on. */
const FOOTER_BYTES = 300;

/** Reads lines of a text file, exactly as they stand, with a footer when there is more. */
export const readFile: ToolDefinition<Parameters> = defineTool({
  name: 'read_file',
  description:
    'Read a text file of the workspace. Returns the lines exactly as they are, without line numbers, so that they can be given to edit_file. ' +
    `At most ${LINES_MAX} lines or ${formatBytes(TOOL_LIMITS.outputBytesMax)} come back at once; a last line in brackets then says which offset to read on with.`,
  parameters: Parameters,
  effect: 'read',
  network: false,
  execute: readWindow,
});

async function readWindow(
  { path, offset = 1, limit = LINES_MAX }: Parameters,
  { workspace, signal, output }: ToolContext,
): Promise<string> {
  const handle = await openFile(await openJail(workspace), path);
  try {
    const { size } = await handle.stat();
    await assertText(handle, path);
    const chunks = handle.createReadStream({ start: 0, autoClose: false, signal });
    // as much as is passed on whole: a window that is cut again would hide where to read on
    const window = { offset, limit: Math.min(limit, output.linesMax - 1), bytesMax: Math.max(1, output.bytesMax - FOOTER_BYTES) };
    const read = await readLines(chunks, window);
    return answer(read, { path, offset, size });
  } catch (error) {
    signal.throwIfAborted();
    throw asWorkspaceError(error, path);
  } finally {
    await handle.close();
  }
}

async function assertText(handle: FileHandle, path: string): Promise<void> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(BINARY_PROBE_BYTES), 0, BINARY_PROBE_BYTES, 0);
  if (looksBinary(buffer.subarray(0, bytesRead))) throw new WorkspaceError('NOT_TEXT', `${shown(path)} looks binary`);
}

function answer(read: ReadLines, { path, offset, size }: { path: string; offset: number; size: number }): string {
  if (read.total === 0) return '[the file is empty]';
  if (read.total !== undefined && offset > read.total) throw new WorkspaceError('BAD_OFFSET', `${shown(path)} has ${read.total} lines`);
  if (read.lineCut)
    return `${read.text}\n[line ${offset} is longer than shown; the file has ${formatBytes(size)}; use run_command to see more of the line]`;
  if (read.total !== undefined)
    return offset === 1 ? read.text : `${ended(read.text)}[lines ${offset}-${read.last} of ${read.total}, the end of the file]`;
  return `${ended(read.text)}[lines ${offset}-${read.last}; the file has ${formatBytes(size)} and goes on: read with offset ${read.last + 1}]`;
}

function ended(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}
