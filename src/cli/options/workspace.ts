import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { parse, resolve } from 'node:path';
import { codeOf, hasErrno } from '../../contracts/files/file-errors.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { echoValue } from '../../contracts/text/echo-value.js';

/**
 * Resolves the real path of a workspace. Throws `WORKSPACE` (exit 2) if it is missing, not a folder or not writable, and for the
 * root and the home folder unless `iKnow` is true.
 */
export async function checkWorkspace(given: string, options: { readonly iKnow: boolean; readonly cwd?: string }): Promise<string> {
  const path = resolve(options.cwd ?? process.cwd(), given);
  const real = await realpath(path).catch((error: unknown) => {
    throw refusal(path, hasErrno(error, 'ENOENT') ? 'does not exist' : `cannot be used (${codeOf(error) ?? String(error)})`);
  });
  if (!(await stat(real)).isDirectory()) throw refusal(path, 'is not a folder');
  if (!options.iKnow) await rejectRootAndHome(path, real);
  await access(real, constants.R_OK | constants.W_OK | constants.X_OK).catch(() => {
    throw refusal(path, 'is not readable and writable');
  });
  return real;
}

async function rejectRootAndHome(path: string, real: string): Promise<void> {
  if (real === parse(real).root) throw refusal(path, 'is the root folder; allow it with --i-know');
  // a missing home folder cannot be the workspace
  const home = await realpath(homedir()).catch(() => undefined);
  if (real === home) throw refusal(path, 'is your home folder; allow it with --i-know');
}

function refusal(path: string, what: string): PerdureError {
  return new PerdureError('WORKSPACE', `${echoValue(path)} ${what}`, 2);
}
