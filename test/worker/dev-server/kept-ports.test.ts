import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type DevServer, openDevServer } from '../../../src/worker/dev-server/dev-server.js';
import { type DevServerRecord, readDevServerRecord } from '../../../src/worker/dev-server/record.js';
import { freePort } from '../../support/free-port.js';
import { hasOrSays } from '../../support/has-or-says.js';
import { serversOn } from '../support/servers-on.js';
import { makeStateDir, removeStateDir, untilServerEnded } from '../support/state-dir.js';

let stateDir = '';
const opened: DevServer[] = [];
const taken: Server[] = [];
const said: string[] = [];

beforeEach(async () => {
  stateDir = await makeStateDir();
  said.length = 0;
});

afterEach(async () => {
  for (const server of taken.splice(0)) server.close();
  for (const server of opened.splice(0)) await server.close();
  await removeStateDir(stateDir);
});

test('D4: a server that stopped cleanly has the same ports at its next start, and its Web UI the same address', async () => {
  const first = await open();
  expect(portOf(first.uiUrl)).toBeGreaterThan(0);
  // no web page may learn the address of the Web UI
  expect((await stat(join(stateDir, 'ports.json'))).mode & 0o777).toBe(0o600);
  await stop();
  expect(existsSync(join(stateDir, 'server.json'))).toBe(false);
  expect(await open()).toEqual(first);
});

test.runIf(hasOrSays(process.platform === 'linux', 'loopback network of 127.0.0.0/8'))(
  'D4: the kept address of the Web UI is one that no web page can guess',
  async () => {
    const { uiUrl } = await open();
    expect(uiUrl).toMatch(/^http:\/\/127\.(?!0\.0\.1:)/u);
    await stop();
    expect((await open()).uiUrl).toBe(uiUrl);
  },
);

test('D4: a port that another program has taken is replaced, the other addresses stay, and the next start has the new one', async () => {
  const first = await open();
  await stop();
  await take(portOf(first.address));
  const second = await open();
  expect(second).toEqual({ ...first, address: expect.not.stringContaining(first.address) });
  await stop();
  expect(await open()).toEqual(second);
});

test('D4: a named port is the one of the server, its Web UI has this number and 1,000, and both are kept', async () => {
  const port = await freePort();
  const first = await open(port);
  expect([first.address, portOf(first.uiUrl)]).toEqual([`127.0.0.1:${port}`, port + 1_000]);
  expect(await open(port)).toEqual(first);
  await expect(open(port + 1)).rejects.toMatchObject({
    code: 'SERVER_RUNNING',
    exitCode: 4,
    message: expect.stringContaining(`already runs at ${first.address}`),
  });
  await stop();
  expect(await open()).toEqual(first);
});

test('D4: a named port that is taken is refused, and no server is left', async () => {
  const port = await freePort();
  await take(port);
  await expect(open(port)).rejects.toMatchObject({
    code: 'PORT_IN_USE',
    exitCode: 2,
    message: `port ${port} on 127.0.0.1 is in use; choose another --port, or omit it`,
  });
  expect(await serversOn(stateDir)).toEqual([]);
  expect(existsSync(join(stateDir, 'server.json'))).toBe(false);
});

test.each([
  ['empty', ''],
  ['of another version', '{"grpc":1}'],
  ['with the address of another machine', '{"grpc":20001,"http":20002,"uiUrl":"http://10.0.0.1:20003"}'],
])('D4: kept ports that are %s are set aside with one notice', async (_, text) => {
  await writeFile(join(stateDir, 'ports.json'), text, { mode: 0o600 });
  await open();
  expect(said.filter((line) => line.includes('it is ignored and kept as ports.json.unreadable'))).toHaveLength(1);
  expect(existsSync(join(stateDir, 'ports.json.unreadable'))).toBe(true);
});

/** The addresses of the server of the folder. */
async function open(port?: number): Promise<Pick<DevServerRecord, 'address' | 'uiUrl' | 'httpPort'>> {
  opened.push(await openDevServer({ stateDir, port, say: (line) => said.push(line) }));
  const record = await readDevServerRecord(stateDir);
  if (!record) throw new Error('no server.json');
  const { address, uiUrl, httpPort } = record;
  return { address, uiUrl, httpPort };
}

/** Closes the server, and waits for the end of its processes. */
async function stop(): Promise<void> {
  for (const server of opened.splice(0)) await server.close();
  await untilServerEnded(stateDir);
}

async function take(port: number): Promise<void> {
  const server = createServer().listen(port, '127.0.0.1');
  taken.push(server);
  await once(server, 'listening');
}

function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1).replace('/', ''));
}
