import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AgentClient } from '../../dist/client/index.js';
import { serveGateway } from '../../dist/gateway/http/serve-gateway.js';
import { FileStreamSource } from '../../dist/streams/index.js';
import { median, round } from '../statistics.mjs';
import { until } from '../until.mjs';

const TOKEN = 'b'.repeat(64);
const CLIENTS = 1_000;
const STARTS = 60;
const CLIENT_PROCESS = fileURLToPath(new URL('../sse-clients.mjs', import.meta.url));

/**
 * (p): what the gateway adds to a start, and how far behind the model the first token reaches 1,000 clients of one run. Worker, gateway
 * and clients share this machine.
 */
export async function gateway(arena) {
  const taskQueue = 'bench-gateway';
  return arena.withWorker(taskQueue, async () => {
    const streams = new FileStreamSource({ folder: join(arena.folder, '.perdure', 'streams') });
    const client = await AgentClient.connect({ address: arena.server.address, taskQueue, streams });
    const stop = new AbortController();
    const door = { version: '0', client, streams, ready: Promise.resolve(), start: (input) => startBy(client, input) };
    let served;
    const url = await new Promise((resolve) => {
      const options = { host: '127.0.0.1', port: 0, access: { token: TOKEN }, requestsPerMinute: 1_000_000, onDefect: console.error };
      served = serveGateway({ ...options, door, signal: stop.signal, onListening: resolve });
    });
    try {
      return { ...(await startTimes(client, url)), ...(await firstTokens(arena, { client, url })) };
    } finally {
      stop.abort();
      await served;
      await client.close();
    }
  });
}

async function startBy(client, input) {
  const { run, executionId, duplicate } = await client.start(input);
  return { runId: run.runId, executionId, duplicate };
}

/** Starts by the client and over HTTP, in turn. */
async function startTimes(client, url) {
  const task = JSON.stringify({ turns: 1 });
  const overHttp = () =>
    fetch(`${url}/v1/runs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ task }),
    }).then((response) => response.json());
  const direct = () => client.start({ task });
  const times = { direct: [], http: [] };
  for (let at = 0; at < STARTS; at += 1) {
    for (const [name, start] of at % 2 === 0
      ? [
          ['direct', direct],
          ['http', overHttp],
        ]
      : [
          ['http', overHttp],
          ['direct', direct],
        ]) {
      const startedAt = performance.now();
      const { runId, run } = await start();
      times[name].push(performance.now() - startedAt);
      await client.get(runId ?? run.runId).result();
    }
  }
  const [startMs, directMs] = [median(times.http), median(times.direct)];
  return { startMs: round(startMs), directStartMs: round(directMs), addedToStartMs: round(startMs - directMs) };
}

/** The clients follow a run that waits in a tool; then its last turn streams to all of them. */
async function firstTokens(arena, { client, url }) {
  const { run } = await client.start({ task: JSON.stringify({ turns: 2, tool: 'wait', gateway: true }) });
  const child = fork(CLIENT_PROCESS, [`${url}/v1/runs/${run.runId}/events`, TOKEN, String(CLIENTS), '2']);
  const said = {};
  child.on('message', (message) => Object.assign(said, message));
  const exited = once(child, 'exit');
  await until(() => said.connected === CLIENTS, 'the clients');
  await arena.model.takeTimes();
  writeFileSync(arena.env.BENCH_RELEASE, '');
  try {
    await run.result();
    await exited;
  } finally {
    rmSync(arena.env.BENCH_RELEASE, { force: true });
  }
  const [modelAt] = await arena.model.takeTimes();
  const behind = (said.first ?? []).map((at) => at - modelAt).toSorted((a, b) => a - b);
  return { clients: behind.length, firstTokenP50Ms: at(behind, 0.5), firstTokenP95Ms: at(behind, 0.95), firstTokenMaxMs: at(behind, 1) };
}

function at(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
