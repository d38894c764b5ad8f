import { readFile, stat } from 'node:fs/promises';
import { PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { echoValue } from '../../contracts/text/echo-value.js';

/**
 * Reads the JSON file of `--output-schema`. The check of the run input validates the schema itself. Throws `BAD_OPTION` (exit 2)
 * for a file that cannot be read, exceeds the size limit of a message, or is not valid JSON.
 */
export async function readOutputSchema(path: string): Promise<unknown> {
  const text = await readBounded(path);
  try {
    // some editors write a byte order mark
    return JSON.parse(text.replace(/^\uFEFF/u, ''));
  } catch (error) {
    throw refusal(path, `is not valid JSON: ${messageOf(error)}`);
  }
}

/** Checks the file before it is opened, because a pipe or a device may never end. */
async function readBounded(path: string): Promise<string> {
  const bytesMax = PAYLOAD_LIMITS.messageBytesMax;
  const found = await stat(path).catch((error: unknown) => cannotRead(path, error));
  if (!found.isFile()) throw refusal(path, 'is not a file');
  if (found.size > bytesMax) throw refusal(path, `has ${found.size} bytes (limit: ${bytesMax})`);
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
