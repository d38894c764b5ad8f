import { execFile } from 'node:child_process';
import { chmod, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { KNOWN_PROVIDERS } from '../../../src/providers/access/provider-catalog.js';
import { useTempFolder } from '../../support/temp-folder.js';

const VARIABLES = [...new Set(Object.values(KNOWN_PROVIDERS).flatMap(({ keyVariable }) => keyVariable ?? []))];

describe('captureKeys', () => {
  it('X5: the keys of all known providers leave the environment, numbered ones too; others stay', () => {
    const keys = Object.fromEntries(
      VARIABLES.flatMap((name) => [
        [name, 'k-one'],
        [`${name}_2`, 'k-two'],
      ]),
    );
    const env: NodeJS.ProcessEnv = { ...keys, LLM_API_KEY: 'k-any', SEARCH_API_KEY: 'k-search', OPENAI_API_KEY_FILE: 'f' };
    const ring = captureKeys(env);
    expect(VARIABLES.length).toBeGreaterThan(8);
    expect(env).toEqual({ SEARCH_API_KEY: 'k-search', OPENAI_API_KEY_FILE: 'f' });
    expect(VARIABLES.map((name) => ring.resolve(`env:${name}_2`))).toEqual(VARIABLES.map(() => 'k-two'));
  });

  it.each([
    ['unset', {}, 'SECRET_MISSING env:MY_KEY'],
    ['empty', { MY_KEY: '' }, 'SECRET_MISSING env:MY_KEY'],
    ['white space', { MY_KEY: ' \n' }, 'SECRET_MISSING env:MY_KEY'],
    ['two lines', { MY_KEY: 'k-one\nk-two' }, 'SECRET_BAD env:MY_KEY: it contains a character that is not allowed in a request header'],
  ])('B22: a variable that is %s gives no value, and its name says so', (_, env, problem) => {
    const ring = captureKeys({ ...env }, ['env:MY_KEY']);
    expect(ring.resolve('env:MY_KEY')).toBeUndefined();
    expect(ring.problem('env:MY_KEY')).toContain(problem);
    expect(ring.problem('env:MY_KEY')).not.toContain('k-one');
    expect(ring.names()).toEqual([]);
  });

  it('B22: the line break at the end of a variable is no part of the key', () => {
    expect(captureKeys({ MY_KEY: 'k-one\r\n' }, ['env:MY_KEY']).resolve('env:MY_KEY')).toBe('k-one');
  });
});

describe('held keys', () => {
  it('A13: all variables that were taken are held, also those that a later config does not name', () => {
    const env = { OPENAI_API_KEY: 'k-one', MY_KEY: 'k-two' };
    captureKeys(env, ['env:MY_KEY']);
    const ring = captureKeys(env);
    expect(ring.held()).toEqual([
      { name: 'env:OPENAI_API_KEY', value: 'k-one' },
      { name: 'env:MY_KEY', value: 'k-two' },
    ]);
    expect(ring.held()).toBe(ring.held());
  });
});

describe('keys in files', () => {
  const folder = useTempFolder('perdure-keys-');

  it('B22: a file of its owner alone is read at call time, without its line break', async () => {
    const reference = `file:${await secret('k-one\n', 0o600)}`;
    const ring = captureKeys({}, [reference]);
    expect(ring.resolve(reference)).toBe('k-one');
    expect(ring.problem(reference)).toBeUndefined();
    expect(ring.names()).toEqual([reference]);
    expect(ring.held()).toEqual([{ name: reference, value: 'k-one' }]);
    await secret('k-rotated', 0o600);
    expect(ring.resolve(reference)).toBe('k-rotated');
    // the old one may still be valid
    expect(ring.held().map(({ value }) => value)).toEqual(['k-rotated', 'k-one']);
  });

  it.each([
    [0o644, 'SECRET_FILE_MODE 0644, want 0600, or 0440 of root or of this user'],
    [0o444, 'SECRET_FILE_MODE 0444, want 0600, or 0440 of root or of this user'],
    [0o460, 'SECRET_FILE_MODE 0460, want 0600, or 0440 of root or of this user'],
    [0o602, 'SECRET_FILE_MODE 0602, want 0600, or 0440 of root or of this user'],
  ])('B22: a file of mode %o, which others may open, gives no key', async (mode, problem) => {
    const reference = `file:${await secret('k-one', mode)}`;
    const ring = captureKeys({}, [reference]);
    expect(ring.resolve(reference)).toBeUndefined();
    expect(ring.problem(reference)).toBe(`${problem}: ${reference}`);
  });

  it.each([0o440, 0o640])('A14: a file of mode %o, which the group may read, is a key: secrets are mounted so', async (mode) => {
    const reference = `file:${await secret('k-one', mode)}`;
    const ring = captureKeys({}, [reference]);
    expect(ring.problem(reference)).toBeUndefined();
    expect(ring.resolve(reference)).toBe('k-one');
  });

  it('a file that may not even be written is a key all the same, as orchestrators mount them behind a link', async () => {
    const path = await secret('k-mounted', 0o400);
    await symlink(path, join(folder.path, 'link'));
    const reference = `file:${join(folder.path, 'link')}`;
    expect(captureKeys({}, [reference]).resolve(reference)).toBe('k-mounted');
  });

  it('what is no file, is not there, is empty, too long or of several lines gives no key; nothing is waited for', async () => {
    const pipe = join(folder.path, 'pipe');
    await promisify(execFile)('mkfifo', ['-m', '600', pipe]);
    expect(problemOf(pipe)).toContain('it is not a file');
    expect(problemOf(folder.path)).toContain('it is not a file');
    expect(problemOf(join(folder.path, 'none'))).toBe(`SECRET_MISSING file:${join(folder.path, 'none')}`);
    expect(problemOf(await secret('\n', 0o600))).toContain('SECRET_MISSING');
    expect(problemOf(await secret('x'.repeat(100_000), 0o600))).toContain('100000 bytes are too many for a key');
    expect(problemOf(await secret('k-one\nk-two', 0o600))).toMatch(/^SECRET_BAD file:/u);
  });

  it('a file that the config does not name is not opened', async () => {
    const path = await secret('k-one', 0o600);
    const ring = captureKeys({}, [`file:${join(folder.path, 'other')}`]);
    expect(ring.resolve(`file:${path}`)).toBeUndefined();
    expect(ring.problem(`file:${path}`)).toBe(`SECRET_MISSING file:${path}`);
  });

  async function secret(text: string, mode: number): Promise<string> {
    const path = join(folder.path, 'secret');
    await writeFile(path, text);
    await chmod(path, mode);
    return path;
  }
});

function problemOf(path: string): string | undefined {
  return captureKeys({}, [`file:${path}`]).problem(`file:${path}`);
}
