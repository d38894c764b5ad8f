import { readFile } from 'node:fs/promises';
import { PerdureError } from '../../contracts/perdure-error.js';
import { describeImportError, firstLine, moduleLoader } from './module-loader.js';

/**
 * Returns the default export of a configuration file, not validated. TypeScript needs no build step. Throws PerdureError `CONFIG` (2):
 * `FILE:LINE:COLUMN: …` for a syntax error, or the first line of an error that the file throws while it is loaded.
 */
export async function readConfigFile(file: string, env: Readonly<NodeJS.ProcessEnv>): Promise<unknown> {
  return file.endsWith('.json') ? await readJson(file) : await importModule(file, env);
}

async function readJson(file: string): Promise<unknown> {
  const text = decode(file, await readFile(file));
  try {
    return JSON.parse(text);
  } catch (error) {
    const before = text.slice(0, brokenAt(text)).split('\n');
    const position = `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
    const reason = firstLine(error).replace(/(?:, \.\.\.| in JSON at position ).*$/u, '');
    throw new PerdureError('CONFIG', `${file}:${position}: ${reason}`, 2, { cause: error });
  }
}

/** The offset of the syntax error in a JSON text. Node does not always report it, so it is found by parsing prefixes (binary search). */
function brokenAt(text: string): number {
  let [whole, broken] = [0, text.length + 1];
  while (broken - whole > 1) {
    const middle = Math.floor((whole + broken) / 2);
    if (isBroken(text.slice(0, middle))) broken = middle;
    else whole = middle;
  }
  return Math.min(broken - 1, text.length);
}

/** True if the text cannot be completed to valid JSON. */
function isBroken(beginning: string): boolean {
  try {
    JSON.parse(beginning);
    return false;
  } catch (error) {
    const message = firstLine(error);
    const position = / at position (\d+)/u.exec(message)?.[1];
    const isShort = position === undefined ? /end of JSON|Unterminated/u.test(message) : Number(position) >= beginning.length;
    return !isShort;
  }
}

function decode(file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new PerdureError('CONFIG', `${file}: not UTF-8`, 2, { cause: error });
  }
}

async function importModule(file: string, env: Readonly<NodeJS.ProcessEnv>): Promise<unknown> {
  const loader = await moduleLoader(env);
  try {
    return await loader.import(file, { default: true });
  } catch (error) {
    throw new PerdureError('CONFIG', describeImportError(file, error), 2, { cause: error });
  }
}
