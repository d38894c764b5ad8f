import { randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { AgentClient } from '../../../src/client/agent-client.js';
import { DROP_POLICIES } from '../../../src/contracts/constants/queue-modes.js';
import { Random } from '../../../src/testing/crash/plan/random.js';
import { GatewayClient } from '../../cli/http/support/gateway-client.js';
import { freePort } from '../../support/free-port.js';
import { until } from '../../support/use-workers.js';
import { useOwnServer } from '../support/own-server.js';
import { startOwnedWorker } from '../support/owned-workers.js';
import { type PerdureFolder, usePerdureFolders } from '../support/perdure-folder.js';
import { messagesOf } from '../support/request-messages.js';
import { ledgerOf, Sent, SessionReader, sendMessages } from '../support/session-traffic.js';
import { Supervised } from '../support/supervised.js';
import { modelEnv, useModels } from '../support/use-models.js';

const MESSAGES = Number(process.env['SESSION_MESSAGES'] ?? 1_000);
const KILLS = { worker: 5, server: 3, gateway: 5 } as const;
const HEARTBEAT_TIMEOUT_MS = 4_000;
const LANES = 8;
/** More than the queue and a run hold, so that a queue that drops does so now and then. */
const UNSETTLED_MAX = 25;
const WAIT_MS = 240_000;

const server = useOwnServer();
const folder = usePerdureFolders();
const model = useModels();

test('A-31, C-01: 1,000 messages to one session over HTTP are each answered or reported once, in order, whatever of worker, server and gateway is killed', {
  timeout: 900_000,
}, async ({ annotate }) => {
  const seed = Number(process.env['SESSION_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  const random = new Random(seed);
  const drop = random.choose(DROP_POLICIES.map((policy) => [policy, policy === 'new' ? 2 : 1])) ?? 'new';
  console.info(`SESSION_SEED=${seed}, drop: ${drop}`);
  const startedAt = Date.now();
  const wire = await model({ script: { steps: [{ text: 'read' }], loop: true } });
  const here = await folder(modelEnv(wire));
  await writeConfig(here, drop);
  const on = { address: server.address, taskQueue: `e2e-thousand-${randomUUID()}`, heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS };
  const worker = new Supervised(() => startOwnedWorker(here, on));
  const port = await freePort();
  const gateway = new Supervised(() => startGateway(here, { ...on, port }));
  await worker.up();
  await gateway.up();
  const client = new GatewayClient(`http://127.0.0.1:${port}`, (await readFile(join(here.stateDir, 'gateway-token'), 'utf8')).trim());
  const key = `s-${randomUUID()}`;

  const reader = new SessionReader();
  const leave = new AbortController();
  const reading = reader.read(client, key, leave.signal);
  const sent = new Sent();
  const killer = (kind: keyof typeof KILLS, kill: (downMs: number) => Promise<void>): Promise<void> =>
    killAtRandom({ count: KILLS[kind], random: new Random(random.integer(0, 2 ** 31)), sent, kill });
  const killers = Promise.all([
    killer('worker', (downMs) => worker.kill(downMs)),
    killer('gateway', (downMs) => gateway.kill(downMs)),
    killer('server', async (downMs) => {
      await server.kill();
      await delay(downMs);
      await server.startAgain();
    }),
  ]);
  const untilRoom = async (): Promise<void> => {
    if (drop === 'new') return;
    while (sent.acknowledged.size - reader.settled > UNSETTLED_MAX) await delay(10);
  };
  await sendMessages({ client, key, count: MESSAGES, random: new Random(random.integer(0, 2 ** 31)), lanes: LANES, untilRoom }, sent);
  await killers;
  const sentMs = Date.now() - startedAt;
  await until(() => reader.settled >= sent.acknowledged.size, 'every acknowledged message is answered or reported', WAIT_MS);
  leave.abort();
  await reading;

  const ledger = ledgerOf(reader.events);
  const { accepted, answered, dropped, runIds } = ledger;
  const counts = `seed ${seed}, drop ${drop}: ${MESSAGES} messages, ${sent.acknowledged.size} acknowledged, ${answered.length} answered by ${runIds.length} runs, ${dropped.length} reported; ${sent.repeated} requests repeated, ${sent.duplicates} duplicates, ${reader.cuts} cuts of the stream, ${reader.gaps.length} gaps, ${reader.events.filter(({ type }) => type === 'session.continued').length} histories; kills: ${JSON.stringify(KILLS)}; ${wire.requests.length} model calls; sent in ${sentMs} ms, settled in ${Date.now() - startedAt} ms`;
  console.info(counts);
  await annotate(counts);
  expect(reader.gaps).toEqual([]);
  // each message once, none that was not sent, and those of each client in its order
  expect(accepted.toSorted()).toEqual([...sent.acknowledged].toSorted());
  for (const lane of sent.lanes) expect(accepted.filter((id) => lane.includes(id))).toEqual(lane);
  expect(answered).toEqual(accepted.filter((id) => !dropped.includes(id)));
  expect(new Set(dropped).size).toBe(dropped.length);
  expect(drop === 'new' ? dropped : []).toEqual([]);
  expect([...ledger.reasons]).toEqual(['completed']);
  expect(ledger.overlaps).toEqual([]);
  expect(reader.results).toEqual(runIds);
  expect([worker.ownEnds, gateway.ownEnds]).toEqual([[], []]);

  // the model got each answered message once, in order
  const texts = JSON.stringify(messagesOf(wire.requests.at(-1))).match(/\bm\d+\b/gu) ?? [];
  const isAnswered = new Set(answered);
  expect(texts.filter((id) => isAnswered.has(id))).toEqual(answered);

  const agents = await AgentClient.connect({ address: on.address, taskQueue: on.taskQueue });
  try {
    expect(await agents.session(key).wait(undefined, { timeoutMs: WAIT_MS })).toEqual({ outcome: 'idle' });
    const times: { readonly startedAt: string; readonly closedAt?: string }[] = [];
    for (const runId of runIds) times.push(await agents.get(runId).describe());
    expect(times.filter(({ startedAt: at }, n) => n > 0 && Date.parse(at) < Date.parse(times[n - 1]?.closedAt ?? ''))).toEqual([]);
    // a session keeps the newest events, and a new gateway has no others: who comes later learns that
    await gateway.kill(0);
    const { first } = await agents.session(key).events();
    const late = new SessionReader();
    const leaveLate = new AbortController();
    const readingLate = late.read(client, key, leaveLate.signal);
    // the session may have continued as new since the first reader left, and dropped one more event
    await until(() => lastOf(late) >= lastOf(reader), 'the late reader has the last event', WAIT_MS);
    leaveLate.abort();
    await readingLate;
    const { first: firstNow } = await agents.session(key).events();
    const [[before, behind] = []] = late.gaps;
    expect([first > 1, late.gaps.length, before, late.silentGaps]).toEqual([true, 1, 0, []]);
    expect([first, firstNow]).toContain(behind);
  } finally {
    await agents.close();
  }
});

function lastOf({ events }: SessionReader): number {
  return events.at(-1)?.seq ?? 0;
}

async function writeConfig(here: PerdureFolder, drop: string): Promise<void> {
  await rm(join(here.dir, 'perdure.config.mjs'));
  const config = { model: 'openai/test', gateway: { requestsPerMinute: 1_000_000 }, sessions: { drop, debounceMs: 50 } };
  await writeFile(join(here.dir, 'perdure.config.json'), JSON.stringify(config));
}

async function startGateway(
  here: PerdureFolder,
  { address, taskQueue, port }: { readonly address: string; readonly taskQueue: string; readonly port: number },
) {
  const args = ['serve', '--no-worker', '--address', address, '--task-queue', taskQueue, '--port', String(port)];
  const gateway = here.start(args);
  await gateway.prints(`gateway at http://127.0.0.1:${port}`);
  return gateway;
}

interface Killing {
  readonly count: number;
  readonly random: Random;
  readonly sent: Sent;
  readonly kill: (downMs: number) => Promise<void>;
}

/** Kills at random moments while messages are sent: a random time after a random number of receipts. */
async function killAtRandom({ count, random, sent, kill }: Killing): Promise<void> {
  const moments = Array.from({ length: count }, () => random.integer(1, Math.floor(MESSAGES * 0.95))).toSorted((a, b) => a - b);
  for (const moment of moments) {
    while (sent.acknowledged.size < moment) await delay(5);
    await delay(random.integer(0, 500));
    await kill(random.integer(0, 1_500));
  }
}
