import { readFile, stat } from 'node:fs/promises';
import { PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { echoValue } from '../../contracts/text/echo-value.js';

/**
 * The JSON in the file that `--output-schema` names; whether it is a schema is checked with the rest of a run's input. Throws
 * `BAD_OPTION` (exit 2) for a file that cannot be read, is larger than a message may be, or holds no JSON.
 */
export async function readOutputSchema(path: string): Promise<unknown> {
  const text = await readBounded(path);
  try {
    // some editors begin a file with a byte order mark
    return JSON.parse(text.replace(/^\uFEFF/u, ''));
  } catch (error) {
    throw refusal(path, `holds no JSON: ${messageOf(error)}`);
  }
}

/** Looked at before it is opened: a pipe or a device may never end. */
async function readBounded(path: string): Promise<string> {
  const bytesMax = PAYLOAD_LIMITS.messageBytesMax;
  const found = await stat(path).catch((error: unknown) => cannotRead(path, error));
  if (!found.isFile()) throw refusal(path, 'is not a file');
  if (found.size > bytesMax) throw refusal(path, `has ${found.size} bytes, at most ${bytesMax}`);
  return await readFile(path, 'utf8').catch((error: unknown) => cannotRead(path, error));
}

function cannotRead(path: string, error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : messageOf(error);
  throw refusal(path, code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`);
}

function refusal(path: string, what: string): PerdureError {
  return new PerdureError('BAD_OPTION', `outputSchema: ${echoValue(path)} ${what}`, 2);
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 200);
}
