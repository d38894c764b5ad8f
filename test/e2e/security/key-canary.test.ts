import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { basename, join } from 'node:path';
import { temporal } from '@temporalio/proto';
import { afterEach, expect, test } from 'vitest';
import { type PerdureFolder, usePerdureFolders } from '../support/perdure-folder.js';
import { messagesOf } from '../support/request-messages.js';
import { modelEnv, useModels } from '../support/use-models.js';

/** Prints its own environment, and that of every process it can see. */
const SNOOP = String.raw`env; for f in /proc/[0-9]*/environ; do tr '\0' '\n' < "$f"; done 2>&1; echo all was read`;

const folder = usePerdureFolders();
const model = useModels();
const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }
});

test('no command of a run can read the key, and it is nowhere in history, streams, logs, files or output', async () => {
  const canary = newCanary();
  const steps = [{ text: 'I look around', toolCalls: [{ name: 'run_command', args: { command: SNOOP } }] }, { text: 'done' }];
  const wire = await model({ script: { steps }, apiKey: canary });
  const here = await folder({ ...modelEnv(wire), EXTRA_API_KEY: canary });
  const workspace = ['--workspace', here.workspace, '--model', 'openai/test'];
  const events = await here.start(['run', 'go', '--id', 'r1', '--events', ...workspace]).exits(0);
  const json = await here.start(['run', 'go', '--id', 'r2', '--json', ...workspace]).exits(0);
  const started = await here.start(['start', 'go', '--id', 'r3', ...workspace]).exits(0);
  const watched = await here.start(['watch', 'r3', '--no-worker', '--debug']).exits(0);

  const requests = JSON.stringify(wire.requests.map(messagesOf));
  expect(requests.split('all was read').length).toBeGreaterThan(3);
  expect(requests).toContain('PATH=');
  const printed = [events, json, started, watched].flatMap(({ stdout, stderr }) => [stdout, stderr]);
  const places = { requests, printed: printed.join('\n'), ...(await everythingKept(here, ['r1', 'r2', 'r3'])) };
  expect(placesOf(canary, places)).toEqual([]);
  // the scan itself works: it finds what must be there
  expect(placesOf('I look around', places).length).toBeGreaterThanOrEqual(5);
});

test('a server that refuses the key and echoes it: the run fails with Model.Auth, and the key is nowhere', async () => {
  const canary = newCanary();
  const baseUrl = await startEcho();
  const here = await folder({ OPENAI_API_KEY: canary, OPENAI_BASE_URL: baseUrl, ANTHROPIC_API_KEY: canary, ANTHROPIC_BASE_URL: baseUrl });
  const ends = [
    await here.start(['run', 'go', '--id', 'r1', '--model', 'openai/test', '--json', '--debug']).exits(1),
    await here.start(['run', 'go', '--id', 'r2', '--model', 'anthropic/test', '--events', '--debug']).exits(1),
  ];
  const printed = ends.flatMap(({ stdout, stderr }) => [stdout, stderr]).join('\n');
  expect(JSON.parse(ends[0]?.stdout ?? '')).toMatchObject({ reason: 'error', error: { type: 'Model.Auth' } });
  expect(placesOf(canary, { printed, ...(await everythingKept(here, ['r1', 'r2'])) })).toEqual([]);
});

test('A13: a key that tools read elsewhere is replaced in results, errors, logs, heartbeats and artifacts', async () => {
  const canary = newCanary();
  const steps = [
    { toolCalls: [{ name: 'run_command', args: { command: 'cat leaked; base64 -w 76 leaked; yes "$(cat leaked)" | head -n 20000' } }] },
    { toolCalls: [{ name: 'leak', args: {} }] },
    { text: 'done' },
  ];
  const wire = await model({ script: { steps }, apiKey: canary });
  const here = await folder(modelEnv(wire));
  await writeFile(join(here.workspace, 'leaked'), `export KEY=${canary}\n`);
  await writeFile(join(here.dir, 'perdure.config.mjs'), LEAKING_CONFIG);
  const run = ['run', 'go', '--id', 'r1', '--json', '--model', 'openai/test', '--workspace', here.workspace];
  const { stdout, stderr } = await here.start(run).exits(0);
  const places = {
    requests: JSON.stringify(wire.requests.map(messagesOf)),
    printed: stdout + stderr,
    ...(await everythingKept(here, ['r1'])),
  };
  const inBase64 = Buffer.from(`xx${canary}`).toString('base64').slice(4, 30);
  expect(placesOf(canary, places)).toEqual([]);
  expect(placesOf(inBase64, places)).toEqual([]);
  const masked = placesOf('[secret env:', places).map((path) => basename(path));
  expect(masked).toEqual(expect.arrayContaining(['requests', 'history of r1', 'worker.log']));
  expect(places.requests).toContain('full output: read_artifact');
});

test.each([
  ['perdure worker', ['worker']],
  ['the background process of perdure start', undefined],
])('%s: no process of it has a key in /proc/PID/environ, and the model call that needs the key works', async (_, worker) => {
  const canary = newCanary();
  const steps = [{ toolCalls: [{ name: 'snoop', args: {} }] }, { text: 'done' }];
  const wire = await model({ script: { steps }, apiKey: canary });
  // the name of the second variable is known to the config only
  const here = await folder({ ...modelEnv(wire), OPENAI_API_KEY: canary.slice(1), MINE: canary });
  await writeFile(join(here.dir, 'perdure.config.mjs'), SNOOPING_CONFIG);
  const hosting = worker && here.start(worker);
  await hosting?.prints('queue');
  await here.start(['start', 'go', '--id', 'r1', '--workspace', here.workspace, '--model', 'openai/test']).exits(0);
  const result = await (await here.client()).get('r1').result();
  expect(result).toMatchObject({ reason: 'completed', output: 'done' });

  const seen = await readFile(join(here.workspace, 'seen'), 'latin1');
  // the worker itself was read, and its tool
  expect(seen).toContain(`PERDURE_DIR=${here.stateDir}`);
  expect(seen).toContain(`EFFECT_LOG=${here.root}`);
  expect(seen.split(canary)).toHaveLength(1);
  expect(seen.split(canary.slice(1))).toHaveLength(1);
});

/** A tool of the owner, whose child process looks into each process of its user, as a command in mode \`none\` can. */
const SNOOPING_CONFIG = `
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, defineTool } from 'perdure';
import { z } from 'zod';
const SNOOP = ${JSON.stringify(SNOOP)};
export default defineConfig({
  sandbox: { mode: 'none' },
  credentials: { openai: 'env:MINE' },
  tools: [defineTool({ name: 'snoop', description: 'looks', parameters: z.object({}), effect: 'read', execute: (_, ctx) => {
    writeFileSync(join(ctx.workspace, 'seen'), execFileSync('sh', ['-c', SNOOP], { maxBuffer: 2 ** 28 }));
    return 'looked';
  } })],
});
`;

const LEAKING_CONFIG = `
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, defineTool } from 'perdure';
import { z } from 'zod';
export default defineConfig({
  tools: [defineTool({ name: 'leak', description: 'leaks', parameters: z.object({}), effect: 'read', execute: (_, ctx) => {
    const text = readFileSync(join(ctx.workspace, 'leaked'), 'utf8');
    ctx.log.warn('read ' + text);
    ctx.heartbeat(text);
    throw new Error('refused: ' + text);
  } })],
});
`;

/** Not of a form that a pattern for keys could know. */
function newCanary(): string {
  return `Kanarie${randomBytes(12).toString('hex')}`;
}

/** Refuses every request and tells the key it came with, in both wire formats' own fields. */
async function startEcho(): Promise<string> {
  const server = createServer((request, response) => {
    const shown = `Incorrect API key provided: ${request.headers.authorization ?? ''} ${String(request.headers['x-api-key'] ?? '')}`;
    const error = { message: shown, type: 'authentication_error', code: 'invalid_api_key' };
    response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify({ type: 'error', error }));
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
}

/** The histories, and every file of the state folder: streams, logs, records and the server's own database. */
async function everythingKept(here: PerdureFolder, runIds: readonly string[]): Promise<Record<string, string>> {
  const client = await here.temporal();
  const kept: Record<string, string> = {};
  for (const runId of runIds) {
    const history = await client.workflow.getHandle(runId).fetchHistory();
    kept[`history of ${runId}`] = Buffer.from(temporal.api.history.v1.History.encode(history).finish()).toString('latin1');
  }
  for (const entry of await readdir(here.stateDir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    // presences come and go
    if (entry.isFile()) kept[path] = await readFile(path, 'latin1').catch(() => '');
  }
  return kept;
}

function placesOf(text: string, places: Readonly<Record<string, string>>): string[] {
  return Object.entries(places).flatMap(([place, content]) => (content.includes(text) ? [place] : []));
}
