import type { Dirent } from 'node:fs';
import { z } from 'zod';
import { WORKSPACE_LIMITS } from '../contracts/constants/limits.js';
import { defineTool, type ToolContext, type ToolDefinition, type ToolOutput } from '../define/define-tool.js';
import { compileGlob } from './workspace/glob.js';
import { openJail, realInside, relativePath } from './workspace/jail.js';
import { listFolder, walkFiles } from './workspace/walk-files.js';

const Parameters = z.strictObject({
  path: z.string().min(1).optional().describe('Folder to list, relative to the workspace. Default: the workspace.'),
  glob: z
    .string()
    .min(1)
    .max(WORKSPACE_LIMITS.globCharsMax)
    .optional()
    .describe('List all matching files under path, for example *.ts, src/**/*.{js,ts} or **.'),
});
type Parameters = z.infer<typeof Parameters>;

/** Lists one folder, or all files under it that match a glob. */
export const listFiles: ToolDefinition<Parameters> = defineTool({
  name: 'list_files',
  description:
    'List files of the workspace. Without glob: the entries of one folder; folders end with /, symbolic links with @. ' +
    'With glob: all files under the folder whose path, relative to that folder, matches. A glob without a slash matches file names at any depth. ' +
    'With glob, .git and node_modules are skipped (pass them as path to list their files), and symbolic links are not followed.',
  parameters: Parameters,
  effect: 'read',
  network: false,
  execute: async ({ path = '.', glob }: Parameters, { workspace, signal, output }: ToolContext) => {
    const jail = await openJail(workspace);
    if (glob === undefined) return answer(output, (await listFolder(jail, path)).entries.map(nameWithMark), []);
    const folder = relativePath(jail, await realInside(jail, path));
    const matches = compileGlob(glob);
    const notes = new Set<string>();
    const files: string[] = [];
    const onCut = (): void => {
      notes.add(`[only the first ${WORKSPACE_LIMITS.walkEntriesMax} entries were searched; pass a folder as path]`);
    };
    const onUnreadable = (): void => void notes.add('[some folders could not be read]');
    for await (const file of walkFiles({ jail, folder: path, signal, onCut, onUnreadable })) {
      if (matches(folder === '.' ? file : file.slice(folder.length + 1))) files.push(file);
    }
    return answer(output, files, [...notes]);
  },
});

function nameWithMark(entry: Dirent): string {
  if (entry.isDirectory()) return `${entry.name}/`;
  return entry.isSymbolicLink() ? `${entry.name}@` : entry.name;
}

async function answer(output: ToolOutput, names: readonly string[], notes: readonly string[]): Promise<string> {
  if (names.length === 0) return ['[no files]', ...notes].join('\n');
  // a name with a line break must not appear as two names
  const lines = names.map((name) => name.replaceAll(/[\p{Cc}]/gu, '?'));
  const collector = output.collect({ keep: 'head' });
  await collector.write(Buffer.from([...notes, ...lines].join('\n')));
  return collector.finish();
}
