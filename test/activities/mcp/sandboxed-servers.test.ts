import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { callTool, textOf } from './support/calls.js';
import { useMcp } from './support/mcp-kit.js';

const HOLDER = fileURLToPath(new URL('support/hold-server.ts', import.meta.url));

interface Seen {
  readonly readable: readonly string[];
  readonly reaches: boolean;
  readonly variables: readonly string[];
}

describe('the process of an MCP server', { timeout: 60_000 }, () => {
  const { odd, folder } = useMcp();

  it('X reads no key of the worker or of another server, sees no protected file, and reaches no port of this machine', async () => {
    const port = await listening();
    const cwd = await folder();
    const config = join(cwd, 'perdure.config.ts');
    await mkdir(join(cwd, '.perdure'));
    await writeFile(join(cwd, '.perdure', 'auth-key'), 'secret');
    await writeFile(config, 'secret');
    const env = { OTHER_KEY: 'no', OWN_TOKEN: 'yes', OPENAI_API_KEY: 'no' };
    const keys = captureKeys(env, ['env:OTHER_KEY', 'env:OWN_TOKEN']);
    const log = join(cwd, 'log');
    const { tools } = await odd({ cwd, env: { LOG: log, TOKEN: 'env:OWN_TOKEN' } }, { keys, protected: [config] });
    const files = [config, join(cwd, '.perdure', 'auth-key'), log];
    const seen = JSON.parse(textOf(await callTool(tools, 'odd_probe', { files, port }))) as Seen;
    expect(seen).toMatchObject({ readable: [log], reaches: false });
    expect(seen.variables).toContain('TOKEN');
    expect(seen.variables.filter((name) => /KEY|OWN_TOKEN/u.test(name))).toEqual([]);
  });

  it('reaches what its own sandbox option allows', async () => {
    const port = await listening();
    const { tools } = await odd({ sandbox: { network: 'host' } });
    expect(JSON.parse(textOf(await callTool(tools, 'odd_probe', { files: [], port })))).toMatchObject({ reaches: true });
  });

  it.each(['namespaces', 'none'] as const)('is dead when its worker was killed, in the sandbox %s', async (mode) => {
    const cwd = await folder();
    const worker = spawn(process.execPath, ['--import', 'jiti/register', HOLDER, cwd, mode], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line]: Buffer[] = await once(worker.stdout, 'data');
    const marker = line?.toString().trim() ?? '';
    expect(marker).toMatch(/^perdure-odd-\w+$/u);
    expect(await running(marker)).not.toEqual([]);
    worker.kill('SIGKILL');
    await expect.poll(() => running(marker)).toEqual([]);
  });
});

/** The port of a server on this machine that holds up nothing. */
async function listening(): Promise<number> {
  const server = createServer((socket) => socket.end());
  server.listen(0, '127.0.0.1');
  server.unref();
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** The processes of this machine whose arguments have a word. */
async function running(word: string): Promise<string[]> {
  const ps = spawn('ps', ['-eo', 'pid=,args=']);
  const pieces: Buffer[] = [];
  ps.stdout.on('data', (piece: Buffer) => pieces.push(piece));
  await once(ps, 'close');
  const lines = Buffer.concat(pieces).toString('utf8').split('\n');
  return lines.filter((line) => line.includes(word) && line.includes('odd-server'));
}
