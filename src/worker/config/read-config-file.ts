import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PerdureError } from '../../contracts/perdure-error.js';
import { cacheFolder } from '../state-folder/state-folder.js';

/**
 * What a configuration file exports by default, unchecked. TypeScript needs no build step. Throws PerdureError `CONFIG` (2):
 * `FILE:LINE:COLUMN: …` for a syntax error, the first line of what the file throws while it is loaded.
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
    const place = `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
    const reason = firstLine(error).replace(/(?:, \.\.\.| in JSON at position ).*$/u, '');
    throw new PerdureError('CONFIG', `${file}:${place}: ${reason}`, 2, { cause: error });
  }
}

/** Where a broken text stops to be the beginning of JSON: Node does not always say, but it can be asked of each beginning. */
function brokenAt(text: string): number {
  let [whole, broken] = [0, text.length + 1];
  while (broken - whole > 1) {
    const middle = Math.floor((whole + broken) / 2);
    if (isBroken(text.slice(0, middle))) broken = middle;
    else whole = middle;
  }
  return Math.min(broken - 1, text.length);
}

/** False for JSON and for what could become JSON. */
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
  // loaded only when there is a config: it costs a third of a second
  const { createJiti } = await import('jiti');
  // the config is run in every process that needs it: what an earlier one of this process left must not stand in for the file
  const jiti = createJiti(import.meta.url, {
    alias: ownAliases(),
    moduleCache: false,
    // the loader's own choice is a folder for all users of the machine: whoever fills it first says what is run
    fsCache: join(cacheFolder(env), 'config'),
  });
  try {
    return await jiti.import(file, { default: true });
  } catch (error) {
    throw new PerdureError('CONFIG', describeImportError(file, error), 2, { cause: error });
  }
}

/** This package's own door and zod, so that a config may import both wherever it stands, and its schemas are of our zod. */
function ownAliases(): Record<string, string> {
  const door = ['../../define/index.js', '../../define/index.ts']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(path));
  return { ...(door === undefined ? {} : { perdure: door }), zod: fileURLToPath(import.meta.resolve('zod')) };
}

/** The loader ends the message of a syntax error with its place, which may be in a file that the config imports; its columns count from 0. */
function describeImportError(file: string, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const place = /^ (.+):(\d+):(\d+)$/mu.exec(message);
  if (!message.startsWith('ParseError:') || !place) return `${file}: ${firstLine(error)}`;
  const reason = firstLine(error)
    .replace(/^ParseError:\s*/u, '')
    .trim();
  return `${place[1]}:${place[2]}:${Number(place[3]) + 1}: ${reason}`;
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
