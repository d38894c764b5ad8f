import { stat } from 'node:fs/promises';
import { z } from 'zod';
import { WORKSPACE_LIMITS } from '../contracts/constants/limits.js';
import { defineTool, type ToolContext, type ToolDefinition, type ToolOutput } from '../define/define-tool.js';
import { formatBytes } from '../output/truncate-output.js';
import { compileGlob } from './workspace/glob.js';
import { type Jail, openFile, openJail, realInside, relativePath } from './workspace/jail.js';
import { LineMatcher } from './workspace/line-matcher.js';
import { looksBinary } from './workspace/read-lines.js';
import { walkFiles } from './workspace/walk-files.js';
import { WorkspaceError } from './workspace/workspace-error.js';

const Parameters = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .max(WORKSPACE_LIMITS.searchPatternCharsMax)
    .describe('JavaScript regular expression, matched line by line. Start it with (?i) to ignore case.'),
  path: z.string().min(1).optional().describe('Folder or file to search, relative to the workspace. Default: the whole workspace.'),
  glob: z.string().min(1).max(WORKSPACE_LIMITS.globCharsMax).optional().describe('Search only matching files, for example *.ts.'),
});
type Parameters = z.infer<typeof Parameters>;

/** Finds the lines of text files that match a pattern, within limits of time and size. */
export const searchFiles: ToolDefinition<Parameters> = defineTool({
  name: 'search_files',
  description:
    'Search the text files of the workspace for lines that match a regular expression. Returns each match as path:line: text. ' +
    `Binary files, files over ${formatBytes(WORKSPACE_LIMITS.fileBytesMax)}, .git and node_modules are skipped. Returns at most ${WORKSPACE_LIMITS.searchMatchesMax} matches.`,
  parameters: Parameters,
  effect: 'read',
  network: false,
  execute: async ({ pattern, path = '.', glob }: Parameters, { workspace, signal, output }: ToolContext) => {
    const jail = await openJail(workspace);
    const real = await realInside(jail, path);
    const search = new Search(jail, signal);
    const matcher = new LineMatcher(pattern);
    try {
      if ((await stat(real)).isDirectory()) await search.folder(matcher, path, glob);
      else await search.file(matcher, path);
    } finally {
      await matcher.close();
    }
    return search.answer(output);
  },
});

/** One search: its matches, and notes about skipped files. */
class Search {
  private readonly found: string[] = [];
  private readonly notes = new Set<string>();
  private bytes = 0;
  private readonly jail: Jail;
  private readonly signal: AbortSignal;

  constructor(jail: Jail, signal: AbortSignal) {
    this.jail = jail;
    this.signal = signal;
  }

  async folder(matcher: LineMatcher, path: string, glob = '**'): Promise<void> {
    const folder = relativePath(this.jail, await realInside(this.jail, path));
    const matches = compileGlob(glob);
    const onCut = (): void => {
      this.notes.add(`only the first ${WORKSPACE_LIMITS.walkEntriesMax} entries were searched; pass a folder as path`);
    };
    const onUnreadable = (): void => void this.notes.add('some folders could not be read');
    for await (const file of walkFiles({ jail: this.jail, folder: path, signal: this.signal, onCut, onUnreadable })) {
      if (this.isFull()) return;
      if (matches(folder === '.' ? file : file.slice(folder.length + 1))) await this.fileIfThere(matcher, file);
    }
  }

  async file(matcher: LineMatcher, path: string): Promise<void> {
    const text = await this.textOf(path);
    if (text === undefined) return;
    const lines = text.split('\n');
    for (const index of await matcher.match(text, path, this.signal)) {
      if (this.isFull()) return;
      this.found.push(`${path}:${index + 1}: ${shownLine(lines[index] ?? '')}`);
    }
  }

  async answer(output: ToolOutput): Promise<string> {
    const notes = [...this.notes].map((note) => `[${note}]`);
    if (this.found.length === 0) return ['[no matches]', ...notes].join('\n');
    const collector = output.collect({ keep: 'head' });
    await collector.write(Buffer.from([...notes, ...this.found].join('\n')));
    return collector.finish();
  }

  private isFull(): boolean {
    if (this.found.length >= WORKSPACE_LIMITS.searchMatchesMax) {
      this.notes.add(`only the first ${WORKSPACE_LIMITS.searchMatchesMax} matches are shown; narrow pattern, path or glob`);
      return true;
    }
    if (this.bytes < WORKSPACE_LIMITS.searchBytesMax) return false;
    this.notes.add(`stopped after ${formatBytes(WORKSPACE_LIMITS.searchBytesMax)} of files; pass a folder as path`);
    return true;
  }

  /** Skips a file that is deleted or unreadable during the search of a folder. */
  private async fileIfThere(matcher: LineMatcher, path: string): Promise<void> {
    try {
      // a leading ~ is part of the name here, not a home folder
      await this.file(matcher, path.startsWith('~') ? `./${path}` : path);
    } catch (error) {
      if (!(error instanceof WorkspaceError) || error.code === 'PATTERN_TOO_SLOW' || error.code === 'FAILED') throw error;
      this.notes.add('some files could not be read');
    }
  }

  private async textOf(path: string): Promise<string | undefined> {
    const handle = await openFile(this.jail, path);
    try {
      const { size } = await handle.stat();
      if (size > WORKSPACE_LIMITS.fileBytesMax) {
        this.notes.add(`files over ${formatBytes(WORKSPACE_LIMITS.fileBytesMax)} were skipped`);
        return undefined;
      }
      const bytes = await handle.readFile();
      this.bytes += bytes.length;
      return looksBinary(bytes) ? undefined : bytes.toString();
    } finally {
      await handle.close();
    }
  }
}

function shownLine(line: string): string {
  const text = line.trimEnd();
  return text.length <= WORKSPACE_LIMITS.searchLineShownCharsMax ? text : `${text.slice(0, WORKSPACE_LIMITS.searchLineShownCharsMax)}…`;
}
