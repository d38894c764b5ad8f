import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { AgentClient } from '../../dist/client/index.js';
import { startCommand } from '../command.mjs';
import { median } from '../statistics.mjs';
import { until } from '../until.mjs';

const TURNS = 3;
const ROUNDS = 3;
/** A spare is loaded a few seconds after it was started; nothing tells this from outside. */
const SPARE_LOADS_MS = 5_000;

/** (k): on a server that is not the folder's own, a worker is killed in a model call. How long until the next request? Median of three. */
export async function sharedRecovery(arena) {
  const one = await rounds(arena, 'one', { workers: 1, options: [] });
  const spare = await rounds(arena, 'spare', { workers: 1, options: ['--spare'] });
  const two = await rounds(arena, 'two', { workers: 2, options: [] });
  const all = [...one, ...spare, ...two];
  return {
    oneWorkerMs: median(one.map(({ ms }) => ms)),
    withSpareMs: median(spare.map(({ ms }) => ms)),
    otherWorkerMs: median(two.map(({ ms }) => ms)),
    modelCallsRepeated: Math.max(...all.map(({ modelCallsRepeated }) => modelCallsRepeated)),
    toolsRepeated: Math.max(...all.map(({ toolsRepeated }) => toolsRepeated)),
    all: { one, spare, two },
  };
}

async function rounds(arena, name, setting) {
  const { path, remove } = await arena.emptyFolder();
  try {
    const results = [];
    for (let round = 0; round < ROUNDS; round += 1)
      results.push(await killedOnce(arena, { ...setting, cwd: path, name: `bench-shared-${name}-${round}` }));
    return results;
  } finally {
    await remove();
  }
}

async function killedOnce(arena, { name, workers, options, cwd }) {
  const env = { ...arena.env, TEMPORAL_ADDRESS: arena.server.address };
  const supervisors = Array.from({ length: workers }, () => startCommand(['worker', '--task-queue', name, ...options], { cwd, env }));
  const client = await AgentClient.connect({ address: arena.server.address, taskQueue: name });
  try {
    for (const { lines } of supervisors)
      await until(() => lines.some(({ line }) => line.startsWith('worker on queue')), 'the worker to work');
    if (options.includes('--spare')) await untilSpare(supervisors[0]);
    await arena.model.takeTimes();
    const { run } = await client.start({ task: JSON.stringify({ turns: TURNS, stallAt: 1, name }), id: name });
    let requests = 0;
    await until(async () => (requests += (await arena.model.takeTimes()).length) >= 2, 'the request that is never answered');
    const handle = new Client({ connection: arena.native }).workflow.getHandle(name);
    const pid = await until(() => pidOfCall(handle), 'the call to be seen');
    const killedAt = Date.now();
    process.kill(pid, 'SIGKILL');
    const [asked] = await until(async () => nonEmpty(await arena.model.takeTimes()), 'the request after the kill');
    const result = await run.result();
    requests += 1 + (await arena.model.takeTimes()).length;
    return { ms: asked - killedAt, modelCallsRepeated: requests - TURNS, toolsRepeated: (await toolStarts(handle)) - result.toolCalls };
  } finally {
    await client.close();
    for (const supervisor of supervisors) await supervisor.kill('SIGTERM');
  }
}

/** The process that holds the call: its identity is `perdure/host/boot/namespace/PID/…`. */
async function pidOfCall(handle) {
  const { raw } = await handle.describe();
  return Number(raw.pendingActivities?.[0]?.lastWorkerIdentity?.split('/')[4]);
}

async function toolStarts(handle) {
  const { events } = await handle.fetchHistory();
  return events.filter(({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType.name === 'callTool').length;
}

async function untilSpare({ pid }) {
  await until(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').length === 2, 'the spare process');
  await pause(SPARE_LOADS_MS);
}

function nonEmpty(times) {
  return times.length > 0 ? times : undefined;
}
