import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import { startWireServer, type WireServer } from '../../../src/testing/index.js';
import { withTestWorker } from '../../../src/testing/kit/test-worker.js';
import { loadConfig } from '../../../src/worker/config/load-config.js';
import { checkRun } from '../../../src/worker/config/preflight.js';

const SCRIPT = { steps: [{ text: 'hello' }] };

describe('D2: loadConfig({ env }) is all that the providers know of the environment', () => {
  let shell: WireServer;
  let folder: string;
  beforeEach(async () => {
    shell = await startWireServer({ script: SCRIPT });
    folder = await mkdtemp(join(tmpdir(), 'perdure-env-'));
    await writeFile(join(folder, 'perdure.config.json'), '{}');
    vi.stubEnv('OPENAI_API_KEY', shell.apiKey);
    vi.stubEnv('OPENAI_BASE_URL', shell.openaiBaseUrl);
    vi.stubEnv('PERDURE_MODEL', 'openai/of-the-shell');
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await shell.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('with {}, a key, an address and a model of process.env are not used', async () => {
    const config = await loadConfig({ cwd: folder, env: {} });
    await expect(checkRun(config, {})).rejects.toMatchObject({ code: 'NO_MODEL' });
    const result = await run({});
    expect(result).toMatchObject({ reason: 'error', error: { type: 'Input.NoModel', message: expect.stringContaining('OPENAI_API_KEY') } });
    expect(shell.requests).toEqual([]);
    expect(process.env['OPENAI_API_KEY']).toBe(shell.apiKey);
  });

  it('its own key goes to its own address, and not to that of process.env', async () => {
    const own = await startWireServer({ script: SCRIPT });
    onTestFinished(() => own.close());
    const result = await run({ OPENAI_API_KEY: own.apiKey, OPENAI_BASE_URL: own.openaiBaseUrl });
    expect(result).toMatchObject({ reason: 'completed', output: 'hello' });
    expect([own.requests.length, shell.requests.length]).toEqual([1, 0]);
  });

  it('a .env of the folder, which a tool may have written, is not read', async () => {
    const lines = `OPENAI_API_KEY=${shell.apiKey}\nOPENAI_BASE_URL=${shell.openaiBaseUrl}\nNODE_OPTIONS=--no-such-option\n`;
    for (const name of ['.env', '.env.local']) await writeFile(join(folder, name), lines);
    const env = { PATH: process.env['PATH'], HOME: folder, XDG_CACHE_HOME: folder };
    const cli = fileURLToPath(new URL('../../../bin/perdure', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [cli, 'models', '--all', '--json', 'openai/'], { cwd: folder, env });
    expect(stdout).toContain('OPENAI_API_KEY');
    expect(stdout).not.toContain(shell.openaiBaseUrl);
    expect(await run({})).toMatchObject({ reason: 'error', error: { type: 'Input.NoModel' } });
    expect(shell.requests).toEqual([]);
  });

  it('by default, process.env is used, and loses its key', async () => {
    const result = await run();
    expect(result).toMatchObject({ reason: 'completed', output: 'hello' });
    expect(shell.requests).toHaveLength(1);
    expect(process.env['OPENAI_API_KEY']).toBeUndefined();
  });

  async function run(env?: NodeJS.ProcessEnv): Promise<RunResult> {
    const config = await loadConfig({ cwd: folder, ...(env === undefined ? {} : { env }) });
    const worker = { config, stateDir: join(folder, 'state'), address: inject('temporalAddress'), say: () => undefined };
    return await withTestWorker(worker, async (client) => {
      const started = await client.start({ task: 'Say hello.', model: 'openai/test', fallbacks: [] });
      return await started.run.result();
    });
  }
});
