import { Buffer } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { z } from 'zod';
import { TOOL_LIMITS } from '../contracts/constants/limits.js';
import { defineTool, type ToolContext, type ToolDefinition } from '../define/define-tool.js';
import { formatBytes } from '../output/truncate-output.js';
import { openFile, openJail } from './workspace/jail.js';
import { BINARY_PROBE_BYTES, looksBinary, type ReadLines, readLines } from './workspace/read-lines.js';
import { asWorkspaceError, shown, WorkspaceError } from './workspace/workspace-error.js';

/** One line of the result is reserved for the footer. */
const LINES_MAX = TOOL_LIMITS.outputLinesMax - 1;

const Parameters = z.strictObject({
  path: z.string().min(1).describe('Path of the file, relative to the workspace.'),
  offset: z.number().int().min(1).optional().describe('First line to read, counted from 1. Default 1.'),
  limit: z.number().int().min(1).max(LINES_MAX).optional().describe(`Number of lines. Default ${LINES_MAX}.`),
});
type Parameters = z.infer<typeof Parameters>;

/** The space reserved for the footer. */
const FOOTER_BYTES = 300;

/** Reads lines of a text file unchanged, with a footer if there are more lines. */
export const readFile: ToolDefinition<Parameters> = defineTool({
  name: 'read_file',
  description:
    'Read a text file of the workspace. Returns the lines exactly as they are, without line numbers, so that you can pass them to edit_file. ' +
    `Returns at most ${LINES_MAX} lines or ${formatBytes(TOOL_LIMITS.outputBytesMax)}. If there are more, the last line, in brackets, contains the offset of the next part.`,
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
    // the window fits the output bounds, because a second cut would remove the footer
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
  if (looksBinary(buffer.subarray(0, bytesRead))) throw new WorkspaceError('NOT_TEXT', `${shown(path)} is a binary file`);
}

function answer(read: ReadLines, { path, offset, size }: { path: string; offset: number; size: number }): string {
  if (read.total === 0) return '[the file is empty]';
  if (read.total !== undefined && offset > read.total) throw new WorkspaceError('BAD_OFFSET', `${shown(path)} has ${read.total} lines`);
  if (read.lineCut)
    return `${read.text}\n[line ${offset} is cut; the file has ${formatBytes(size)}; use run_command to see more of the line]`;
  if (read.total !== undefined)
    return offset === 1 ? read.text : `${ended(read.text)}[lines ${offset}-${read.last} of ${read.total}, the end of the file]`;
  return `${ended(read.text)}[lines ${offset}-${read.last}; the file has ${formatBytes(size)} and continues: read with offset ${read.last + 1}]`;
}

function ended(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}
