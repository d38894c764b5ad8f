import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type DevServerRecord, readDevServerRecord } from '../../../src/worker/dev-server/record.js';
import { CliFolder } from '../../cli/support/cli.js';
import { freePort } from '../../support/free-port.js';
import { openPage, useBrowsers } from './support/browser.js';
import { type Attack, attackFrom, openRebound, useHostileSites } from './support/hostile-site.js';

/** What no page may read: the id and the answer of the owner's run. */
const SECRET = `secret-${randomUUID()}`;
/** A name of the attacker, which leads to this machine. */
const NAME = 'evil.example';

/** Chromium keeps pages of the network from the loopback since version 142. Other browsers and earlier ones do not, so it is not relied on. */
const WITHOUT_OWN_PROTECTION = ['--disable-features=LocalNetworkAccessChecks'];

/** Everything of a folder that listens, and what a page would send there. */
interface Doors {
  readonly server: DevServerRecord;
  /** Those on 127.0.0.1. */
  readonly doors: readonly Attack[];
  /** With its address, which no page knows. */
  readonly webUi: Attack;
}

vi.setConfig({ testTimeout: 180_000 });

let folder: CliFolder;
beforeEach(async () => {
  folder = await CliFolder.make();
});
afterEach(() => folder.remove());
const newBrowser = useBrowsers();
const newSite = useHostileSites();

describe('a web page in a real browser', () => {
  test('the attacks of these tests reach a server that refuses nothing, and read its answers', async () => {
    const [site, victim] = [await newSite(), await newSite()];
    const { page } = await openPage(await newBrowser(), site.url);
    const read = await attackFrom(page, { url: `${victim.url}attacked`, body: { task: 'x' } });
    expect(Object.values(read)).toEqual(['200 read', '200 read', '200 read']);
    const posts = victim.reached.filter(({ method }) => method === 'POST');
    expect(posts.filter(({ type }) => type === 'application/json')).toHaveLength(1);
    expect(posts.filter(({ type }) => type?.startsWith('text/plain'))).toHaveLength(5);
    expect(posts.map(({ origin }) => origin)).toContain('null');
    expect(posts.every(({ body }) => JSON.parse(body).task === 'x')).toBe(true);
  });

  test('A1: starts nothing and reads nothing at the embedded server, its Web UI, the gateway and the MCP server', async () => {
    const { server, doors, webUi } = await openDoors();
    const { page } = await openPage(await newBrowser(), (await newSite()).url);
    for (const door of [...doors, webUi]) expect([door.url, await attackFrom(page, door)]).toEqual([door.url, {}]);
    expect(await workflowsOf(server)).toEqual([SECRET]);
  });

  test('A1: under a name that leads to this machine now, it is refused everywhere, and does not find the Web UI', async () => {
    const { server, doors, webUi } = await openDoors();
    const browser = await newBrowser({ hosts: { [NAME]: '127.0.0.1' }, flags: WITHOUT_OWN_PROTECTION });
    const attackRebound = async ({ url, body }: Attack) => {
      const rebound = Object.assign(new URL(url), { hostname: NAME });
      const page = await openRebound(browser, new URL('/', rebound).href);
      return await attackFrom(page, { url: rebound.href, body });
    };
    for (const door of doors) {
      const { get, ...posts } = await attackRebound(door);
      expect([door.url, get]).toEqual([door.url, expect.stringMatching(/^403 .*(?:Host not allowed|BAD_HOST)/u)]);
      expect(Object.keys(posts)).toEqual(expect.arrayContaining(['post of text', 'post of JSON']));
      for (const answer of Object.values(posts)) expect(answer).toMatch(/Host not allowed|BAD_HOST|Method Not Allowed/u);
    }
    expect(await attackRebound(webUi)).toEqual({});
    expect(await workflowsOf(server)).toEqual([SECRET]);
  });
});

/** Starts everything of a folder that listens, with a run of its owner. */
async function openDoors(): Promise<Doors> {
  await writeFile(join(folder.path, 'perdure.config.json'), JSON.stringify({ model: 'scripted/script.json' }));
  await writeFile(join(folder.path, 'script.json'), JSON.stringify({ steps: [{ text: SECRET }] }));
  const [gateway, mcp] = [await freePort(), await freePort()];
  await folder.start(['serve', '--port', String(gateway)]).saw('gateway at ');
  await folder.start(['mcp', '--http', '--port', String(mcp)]).saw('MCP server at ');
  expect(await folder.run(['run', 'the task of the owner', '--id', SECRET])).toMatchObject({ code: 0 });
  const server = await readDevServerRecord(join(folder.path, '.perdure'));
  if (server === undefined) throw new Error('the folder has no server');
  const start = { workflowType: { name: 'agentRun' }, taskQueue: { name: 'perdure' }, input: [{ task: 'x', context: { workspace: '/' } }] };
  const path = `/api/v1/namespaces/${server.namespace}/workflows`;
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'run_start', arguments: { task: 'x' } } };
  return {
    server,
    doors: [
      { url: `http://127.0.0.1:${server.httpPort}${path}/drive-by`, body: start },
      { url: `http://127.0.0.1:${server.httpPort}${path}`, body: start },
      { url: `http://127.0.0.1:${gateway}/v1/runs`, body: { task: 'x' } },
      { url: `http://127.0.0.1:${gateway}/v1/runs/${SECRET}`, body: { task: 'x' } },
      { url: `http://127.0.0.1:${mcp}/mcp`, body: call },
    ],
    webUi: { url: `${server.uiUrl}${path}/drive-by`, body: start },
  };
}

async function workflowsOf({ address, namespace }: DevServerRecord): Promise<string[]> {
  const connection = await Connection.connect({ address });
  try {
    const found: string[] = [];
    for await (const { workflowId } of new Client({ connection, namespace }).workflow.list()) found.push(workflowId);
    return found;
  } finally {
    await connection.close();
  }
}
