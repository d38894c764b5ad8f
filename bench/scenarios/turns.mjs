import { resolve } from 'node:path';
import { Client } from '@temporalio/client';
import { median, round } from '../statistics.mjs';
import { withWorkerProcess } from '../worker-process.mjs';

/** So many runs at once, and how many turns each takes. */
const LOADS = [
  { runs: 1, turns: 40 },
  { runs: 20, turns: 20 },
  { runs: 100, turns: 10 },
];

const ROUNDS = 3;

/**
 * (k): turns per second, and CPU time of the worker for each turn, at 1, 20 and 100 runs at once: agent runs beside bare activities, each in
 * a worker process of its own, one after the other. Medians, because other programs share the machine.
 *
 * @param options.against another build's `dist` folder, measured too
 * @param options.loads the numbers of runs, separated by commas @default all
 */
export async function turns(arena, { against, rounds = ROUNDS, loads } = {}) {
  const peers = [...PEERS, ...(against === undefined ? [] : [{ name: 'against', kind: 'perdure', dist: resolve(against) }])];
  const wanted = loads === undefined ? LOADS : LOADS.filter(({ runs }) => loads.split(',').includes(String(runs)));
  const results = {};
  for (const load of wanted) {
    const samples = Object.fromEntries(peers.map(({ name }) => [name, []]));
    for (let index = 0; index < Number(rounds); index += 1) {
      for (const peer of peers) samples[peer.name].push(await measure(arena, peer, { ...load, round: index }));
    }
    const measured = Object.fromEntries(peers.map(({ name }) => [name, summary(samples[name])]));
    results[`at${load.runs}`] = measured;
    results[`turnsRatio${load.runs}`] = round(measured.perdure.turnsPerSecond / measured.bare.turnsPerSecond);
    results[`cpuRatio${load.runs}`] = round(measured.perdure.cpuMsPerTurn / measured.bare.cpuMsPerTurn);
  }
  return results;
}

const PEERS = [
  { name: 'bare', kind: 'bare' },
  { name: 'perdure', kind: 'perdure' },
];

function summary(samples) {
  return {
    turnsPerSecond: round(median(samples.map(({ turnsPerSecond }) => turnsPerSecond))),
    cpuMsPerTurn: round(median(samples.map(({ cpuMsPerTurn }) => cpuMsPerTurn))),
    samples,
  };
}

async function measure(arena, peer, load) {
  const taskQueue = `bench-turns-${peer.name}`;
  return withWorkerProcess(arena, { ...peer, taskQueue }, async (worker) => {
    const client = new Client({ connection: arena.native });
    const run = (turnsOfRun, id) =>
      runOne(client, { kind: peer.kind, taskQueue, turns: turnsOfRun, id: `${taskQueue}-${load.round}-${id}` });
    // the first run warms the process up
    await run(10, `warm-${load.runs}`);
    const before = await worker.usage();
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: load.runs }, (_, index) => run(load.turns, `${load.runs}-${index}`)));
    const seconds = (performance.now() - startedAt) / 1_000;
    const { cpuMs } = await worker.usage();
    const all = load.runs * load.turns;
    return { turnsPerSecond: round(all / seconds), cpuMsPerTurn: round((cpuMs - before.cpuMs) / all) };
  });
}

function runOne({ workflow }, { kind, taskQueue, turns: count, id }) {
  const [type, args] =
    kind === 'bare'
      ? ['bareActivities', [id, count]]
      : ['agentRun', [{ v: 1, task: JSON.stringify({ turns: count, id }), maxTurns: count + 10 }]];
  return workflow.execute(type, { taskQueue, workflowId: id, args });
}
