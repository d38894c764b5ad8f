import type { Dirent } from 'node:fs';
import { z } from 'zod';
import { WORKSPACE_LIMITS } from '../contracts/constants/limits.js';
import { defineTool, type ToolContext, type ToolDefinition, type ToolOutput } from '../define/define-tool.js';
import { compileGlob } from './workspace/glob.js';
import { openJail, realInside, relativePath } from './workspace/jail.js';
import { listFolder, walkFiles } from './workspace/walk-files.js';

const Parameters = z.strictObject({
  path: z.string().min(1).optional().describe('Folder to list, relative to the workspace. Default: the workspace itself.'),
  glob: z
    .string()
    .min(1)
    .max(WORKSPACE_LIMITS.globCharsMax)
    .optional()
    .describe('List all files under path that match, for example *.ts, src/**/*.{js,ts} or **.'),
});
type Parameters = z.infer<typeof Parameters>;

/** Lists one folder, or all files under it that a glob means. */
export const listFiles: ToolDefinition<Parameters> = defineTool({
  name: 'list_files',
  description:
    'List files of the workspace. Without glob: the entries of one folder, folders with a / at the end, symbolic links with an @. ' +
    'With glob: all files under the folder whose path, relative to that folder, matches; a glob without a slash is matched against file names at any depth. ' +
    'With glob, .git and node_modules are left out (name them as path to look inside) and symbolic links are not followed.',
  parameters: Parameters,
  effect: 'read',
  network: false,
  execute: async ({ path = '.', glob }: Parameters, { workspace, signal, output }: ToolContext) => {
    const jail = await openJail(workspace);
    if (glob === undefined) return answer(output, (await listFolder(jail, path)).entries.map(nameWithMark), []);
    const folder = relativePath(jail, await realInside(jail, path));
    const matches = compileGlob(glob);
    const notes: string[] = [];
    const files: string[] = [];
    const onCut = (): void => {
      notes.push(`[only the first ${WORKSPACE_LIMITS.walkEntriesMax} entries were looked at; name a folder as path]`);
    };
    for await (const file of walkFiles({ jail, folder: path, signal, onCut })) {
      if (matches(folder === '.' ? file : file.slice(folder.length + 1))) files.push(file);
    }
    return answer(output, files, notes);
  },
});

function nameWithMark(entry: Dirent): string {
  if (entry.isDirectory()) return `${entry.name}/`;
  return entry.isSymbolicLink() ? `${entry.name}@` : entry.name;
}

async function answer(output: ToolOutput, names: readonly string[], notes: readonly string[]): Promise<string> {
  if (names.length === 0) return ['[no files]', ...notes].join('\n');
  // a name with a line break must not look like two names
  const lines = names.map((name) => name.replaceAll(/[\p{Cc}]/gu, '?'));
  const collector = output.collect({ keep: 'head' });
  await collector.write(Buffer.from([...notes, ...lines].join('\n')));
  return collector.finish();
}
