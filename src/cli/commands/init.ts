import { lstat, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { PerdureError } from '../../contracts/perdure-error.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { printJson, printText } from '../display/output.js';
import type { CliContext } from '../host/context.js';
import { type StarterFile, starterFiles } from '../project/starter-files.js';

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
  await refuseExisting(folder, files);
  for (const file of files) await write(folder, file);
  const paths = files.map(({ path }) => join(given, path));
  const next = nextCommands(relative(process.cwd(), folder));
  if (options.json) printJson(output, { folder, files: paths, next });
  else printText(output, [...paths.map((path) => `created ${path}`), '', 'Next:', ...next.map((command) => `  ${command}`)].join('\n'));
  return 0;
}

async function refuseExisting(folder: string, files: readonly StarterFile[]): Promise<void> {
  const existing: string[] = [];
  for (const { path } of files) if (await exists(join(folder, path))) existing.push(path);
  const [first, ...others] = existing;
  if (first !== undefined) throw fileExists(folder, others.length === 0 ? first : `${first} and ${others.length} more`);
}

/** A link that leads nowhere exists too. */
async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw cannotWrite(path, error);
    },
  );
}

async function write(folder: string, { path, text }: StarterFile): Promise<void> {
  const file = join(folder, path);
  try {
    await mkdir(dirname(file), { recursive: true });
    // fails for a file that another process created meanwhile
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    throw cannotWrite(file, error);
  }
}

function fileExists(folder: string, what: string): PerdureError {
  const message = `${echoValue(folder)} already has ${what}; nothing was written. Use another folder: perdure init FOLDER`;
  return new PerdureError('FILE_EXISTS', message, 4);
}

function cannotWrite(path: string, error: unknown): PerdureError {
  const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  return new PerdureError('INIT_FOLDER', `cannot write ${echoValue(path)} (${reason}); use another folder: perdure init FOLDER`, 2, {
    cause: error,
  });
}

/** What to type after `init`, from the current folder. */
function nextCommands(folder: string): string[] {
  const quoted = /^[\w./-]+$/u.test(folder) ? folder : `'${folder.replaceAll("'", "'\\''")}'`;
  return [...(folder === '' ? [] : [`cd ${quoted}`]), 'npm install', 'npm test', "npx perdure run 'Where is order 7?' --agent support"];
}
