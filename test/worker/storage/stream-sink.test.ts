import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FileStreamSource } from '../../../src/streams/file-stream-source.js';
import { type LoadedConfig, loadConfig } from '../../../src/worker/config/load-config.js';
import { stateFolder } from '../../../src/worker/state-folder/state-folder.js';
import { streamSink } from '../../../src/worker/storage/stream-sink.js';
import { attempt, readAll, shown } from '../../streams/support/stream-events.js';
import { freePort } from '../../support/free-port.js';
import { useTempFolder } from '../../support/temp-folder.js';
import { until } from '../../support/use-workers.js';

const folder = useTempFolder('perdure-stream-sink-');

describe('the sink of a worker', () => {
  it('without a server tokens are files of the state folder', async () => {
    expect(await publishedInFiles(await load('{}'))).toBe('<reset>hello<end>');
  });

  it('with a server that is not there they are files all the same, and one line reports it without the password', async () => {
    const env = { REDIS_URL: `redis://:secret-word@127.0.0.1:${await freePort()}` };
    const lines: string[] = [];
    expect(await publishedInFiles(await load(`{ streams: { url: 'env:REDIS_URL' } }`, env), lines)).toBe('<reset>hello<end>');
    await until(() => lines.length > 0, 'the report');
    expect(lines).toEqual([
      expect.stringMatching(/^cannot write token streams to Redis, .*: Redis at 127\.0\.0\.1:\d+: .*(?:ECONNREFUSED|no answer within)/u),
    ]);
    expect(lines.join()).not.toContain('secret-word');
  });

  it('is one for all workers of a process with the same config and folder', async () => {
    const config = await load('{}');
    const options = { stateDir: folder.path, say: () => undefined };
    expect(streamSink(config, options)).toBe(streamSink(config, options));
    expect(streamSink(config, options)).not.toBe(streamSink(config, { ...options, stateDir: `${folder.path}/other` }));
    expect(streamSink(config, options)).not.toBe(streamSink(await load('{}'), options));
  });

  it('the address is taken out of the environment, so that no tool can read it', async () => {
    const env = { REDIS_URL: 'redis://:secret-word@127.0.0.1' };
    await load(`{ streams: { url: 'env:REDIS_URL' } }`, env);
    expect(env).not.toHaveProperty('REDIS_URL');
  });

  it.each([
    [{}, 'SECRET_MISSING', 'streams.url: SECRET_MISSING env:REDIS_URL'],
    [{ REDIS_URL: 'http://:secret-word@127.0.0.1' }, 'CONFIG', 'streams.url (env:REDIS_URL): http:// is not redis or rediss'],
    [{ REDIS_URL: 'redis://:secret-word@10.0.0.7' }, 'CONFIG', 'plain redis to another machine'],
  ])('the address of %j is refused when the worker starts, and not repeated', async (env, code, part) => {
    const config = await load(`{ streams: { url: 'env:REDIS_URL' } }`, env);
    const create = (): unknown => streamSink(config, { stateDir: folder.path, say: () => undefined });
    expect(create).toThrow(expect.objectContaining({ code, message: expect.stringContaining(part) }));
    expect(create).not.toThrow('secret-word');
  });

  it.each([
    [`{ url: 'redis://redis:6379' }`, 'streams.url: plain redis to another machine'],
    [`{ url: 'redis:6379' }`, 'streams.url: '],
    [`{ url: 'rediss://:secret-word@redis:6379' }`, 'streams.url: it contains credentials'],
    [`{ url: 'env:REDIS_URL', entrisMax: 500 }`, 'streams.entrisMax: unknown (did you mean entriesMax?)'],
    [`{ url: 'env:REDIS_URL', ttlMs: 5 }`, 'streams.ttlMs: '],
    [`{}`, 'streams.url: '],
  ])('streams %s are refused with their place, without the password', async (streams, part) => {
    const refused = await load(`{ streams: ${streams} }`).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'CONFIG', message: expect.stringContaining(part) });
    expect(String(refused)).not.toContain('secret-word');
  });

  it.each([
    `{ url: 'redis://127.0.0.1:6379' }`,
    `{ url: 'rediss://redis:6379', ttlMs: 3_600_000 }`,
    `{ url: 'redis://redis', allowInsecure: true }`,
  ])('streams %s are taken', async (streams) => {
    expect((await load(`{ streams: ${streams} }`)).config.streams).toBeDefined();
  });
});

async function load(config: string, given: NodeJS.ProcessEnv = {}): Promise<LoadedConfig> {
  await writeFile(join(folder.path, 'perdure.config.mjs'), `export default ${config};\n`);
  const env = Object.assign(given, { XDG_CACHE_HOME: folder.path });
  return await loadConfig({ cwd: folder.path, env });
}

/** What a watcher of the same folder reads of an attempt. */
async function publishedInFiles(config: LoadedConfig, lines: string[] = []): Promise<string> {
  const sink = streamSink(config, { stateDir: folder.path, say: (line) => lines.push(line) });
  for (const event of attempt(['hello'])) sink.publish(event);
  await sink.flush('run-1');
  return shown(await readAll(new FileStreamSource({ folder: stateFolder(folder.path).streams })));
}
