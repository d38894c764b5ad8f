import { execFile } from 'node:child_process';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readOutputSchema } from '../../../src/cli/options/output-schema.js';
import { PAYLOAD_LIMITS } from '../../../src/contracts/constants/limits.js';

let folder: string;
const file = (name: string): string => join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'perdure-schema-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('readOutputSchema', () => {
  it('gives what the file holds, also behind a byte order mark', async () => {
    await writeFile(file('good.json'), '\uFEFF{"type": "object"}\n');
    expect(await readOutputSchema(file('good.json'))).toEqual({ type: 'object' });
  });

  it.each<[string, (path: string) => Promise<unknown>, RegExp]>([
    ['a file that is not there', async () => undefined, /does not exist$/u],
    ['a folder', async (path) => await promisify(execFile)('mkdir', [path]), /is not a file$/u],
    ['a pipe that nobody writes to', async (path) => await promisify(execFile)('mkfifo', [path]), /is not a file$/u],
    ['an empty file', async (path) => await writeFile(path, ''), /is not valid JSON: /u],
    ['YAML', async (path) => await writeFile(path, 'type: object\n'), /is not valid JSON: /u],
    [
      'a file without end',
      async (path) => {
        await writeFile(path, '{');
        await truncate(path, PAYLOAD_LIMITS.messageBytesMax + 1);
      },
      /has 1048577 bytes \(limit: 1048576\)$/u,
    ],
  ])('%s is refused with one coded line', async (name, make, message) => {
    const path = file(name.replaceAll(' ', '-'));
    await make(path);
    await expect(readOutputSchema(path)).rejects.toMatchObject({
      code: 'BAD_OPTION',
      exitCode: 2,
      message: expect.stringMatching(message),
    });
  });
});
