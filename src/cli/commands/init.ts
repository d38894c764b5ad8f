import { join, relative, resolve } from 'node:path';
import { printJson, printText } from '../display/output.js';
import type { CliContext } from '../host/context.js';
import { starterFiles } from '../project/starter-files.js';
import { writeNewFiles } from '../project/write-files.js';

/** The options of `init`. */
export interface InitOptions {
  readonly json?: boolean;
}

/**
 * `init [FOLDER]`: writes a starting project that runs without a key. Never overwrites a file: throws `FILE_EXISTS` (exit 4) before it
 * writes anything, and `INIT_FOLDER` (exit 2) if the folder cannot be written.
 */
export async function init(given: string, options: InitOptions, { output }: CliContext): Promise<number> {
  const folder = resolve(given);
  const files = await starterFiles(folder);
  await writeNewFiles(folder, files, { code: 'INIT_FOLDER', advice: 'Use another folder: perdure init FOLDER' });
  const paths = files.map(({ path }) => join(given, path));
  const next = nextCommands(relative(process.cwd(), folder));
  if (options.json) printJson(output, { folder, files: paths, next });
  else printText(output, [...paths.map((path) => `created ${path}`), '', 'Next:', ...next.map((command) => `  ${command}`)].join('\n'));
  return 0;
}

/** What to type after `init`, from the current folder. */
function nextCommands(folder: string): string[] {
  const quoted = /^[\w./-]+$/u.test(folder) ? folder : `'${folder.replaceAll("'", "'\\''")}'`;
  return [...(folder === '' ? [] : [`cd ${quoted}`]), 'npm install', 'npm test', "npx perdure run 'Where is order 7?' --agent support"];
}
