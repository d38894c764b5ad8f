import { z } from 'zod';
import { defineTool, type ToolContext, type ToolDefinition } from '../define/define-tool.js';
import { measureOutput } from '../output/truncate-output.js';
import { writeFileAtomic } from './workspace/atomic-write.js';
import { openJail } from './workspace/jail.js';
import type { ProtectedPaths } from './workspace/protected-paths.js';

const Parameters = z.strictObject({
  path: z.string().min(1).describe('Path of the file, relative to the workspace. Missing folders are created.'),
  content: z.string().describe('The whole new text of the file.'),
});
type Parameters = z.infer<typeof Parameters>;

/** Writes a whole file. Idempotent. */
export const createWriteFile = (protectedPaths: ProtectedPaths): ToolDefinition<Parameters> =>
  defineTool({
    name: 'write_file',
    description:
      'Write a whole text file of the workspace: create it or replace its content. To change a part of a file, use edit_file. ' +
      'The file is replaced atomically: it never contains a part of the text.',
    parameters: Parameters,
    effect: 'idempotent',
    network: false,
    execute: async ({ path, content }: Parameters, { workspace, signal }: ToolContext) => {
      const jail = await openJail(workspace);
      signal.throwIfAborted();
      await writeFileAtomic(jail, path, content, protectedPaths);
      const { bytes, lines } = measureOutput(content);
      return `wrote ${path}: ${lines} lines, ${bytes} bytes`;
    },
  });
