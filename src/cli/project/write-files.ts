import { lstat, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PerdureError } from '../../contracts/perdure-error.js';
import { echoValue } from '../../contracts/text/echo-value.js';

/** A file of a project that a command writes. */
export interface NewFile {
  /** Relative to the folder of the project. */
  readonly path: string;
  readonly text: string;
}

/** How the errors of a command name what to do instead. */
export interface WriteAdvice {
  /** Code of an error that is not an existing file. */
  readonly code: string;
  /** Such as `Use another folder: perdure init FOLDER`. */
  readonly advice: string;
}

/**
 * Writes new files into a folder, which is created if it is missing. Never overwrites one: throws `FILE_EXISTS` (exit 4) before it writes
 * anything, and the given code (exit 2) if the folder cannot be written.
 */
export async function writeNewFiles(folder: string, files: readonly NewFile[], advice: WriteAdvice): Promise<void> {
  await refuseExisting(folder, files, advice);
  for (const file of files) await write(folder, file, advice);
}

async function refuseExisting(folder: string, files: readonly NewFile[], advice: WriteAdvice): Promise<void> {
  const existing: string[] = [];
  for (const { path } of files) if (await exists(join(folder, path), advice)) existing.push(path);
  const [first, ...others] = existing;
  if (first === undefined) return;
  const what = others.length === 0 ? first : `${first} and ${others.length} more`;
  throw new PerdureError('FILE_EXISTS', `${echoValue(folder)} already has ${what}; nothing was written. ${advice.advice}`, 4);
}

/** A link that leads nowhere exists too. */
async function exists(path: string, advice: WriteAdvice): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw cannotWrite(path, error, advice);
    },
  );
}

async function write(folder: string, { path, text }: NewFile, advice: WriteAdvice): Promise<void> {
  const file = join(folder, path);
  try {
    await mkdir(dirname(file), { recursive: true });
    // fails for a file that another process created meanwhile
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    throw cannotWrite(file, error, advice);
  }
}

function cannotWrite(path: string, error: unknown, { code, advice }: WriteAdvice): PerdureError {
  const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  const message = `cannot write ${echoValue(path)} (${reason}); ${advice.slice(0, 1).toLowerCase()}${advice.slice(1)}`;
  return new PerdureError(code, message, 2, { cause: error });
}
