import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { AgentClient } from '../../../src/client/agent-client.js';
import type { SessionHandle } from '../../../src/client/session-handle.js';
import { QUEUE_MODES } from '../../../src/contracts/constants/queue-modes.js';
import { PerdureError } from '../../../src/contracts/perdure-error.js';
import type { SendInput, SessionState } from '../../../src/contracts/schemas/session.js';
import { useOwnServer } from '../support/own-server.js';
import { startOwnedWorker } from '../support/owned-workers.js';
import { usePerdureFolders } from '../support/perdure-folder.js';
import { modelEnv, useModels } from '../support/use-models.js';

const HEARTBEAT_TIMEOUT_MS = 4_000;
const SESSIONS = 3;
/** Query `session` lists 50 runs. */
const MESSAGES = 15;
const KILLS = 5;
const WAIT_MS = 240_000;

const server = useOwnServer();
const folder = usePerdureFolders();
const model = useModels();

test('A-31: every acknowledged message is answered or reported exactly once, in the order of acknowledgement, whatever is killed', {
  timeout: 400_000,
}, async ({ annotate }) => {
  const seed = Number(process.env['SESSION_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  const random = generator(seed);
  const wire = await model({ script: { steps: [{ text: 'read {{lastUser}}', delayMs: 150 }], loop: true } });
  const here = await folder(modelEnv(wire));
  const on = { address: server.address, taskQueue: `e2e-sessions-${randomUUID()}`, heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS };
  let worker = await startOwnedWorker(here, on);
  const client = await AgentClient.connect({ address: on.address, taskQueue: on.taskQueue });
  const options = { defaults: { model: 'openai/test' }, queue: { debounceMs: 100 }, bounds: { continueAsNewEvents: 40 } };
  const handles = Array.from({ length: SESSIONS }, () => client.session(`s-${randomUUID()}`, options));

  // the first session takes followups alone, so that one order is the right one; the others take everything
  const senders = handles.map((session, at) => sendAll(session, { random: generator(seed + at), isPlain: at === 0 }));
  let kills = 0;
  const killer = (async () => {
    for (; kills < KILLS; kills += 1) {
      await delay(1_000 + Math.floor(random() * 3_000));
      if (random() < 0.3) {
        await server.kill();
        await server.startAgain();
      } else {
        await worker.kill('SIGKILL');
        worker = await startOwnedWorker(here, on);
      }
    }
  })();
  const sent = await Promise.all(senders);
  await killer;

  for (const [at, session] of handles.entries()) {
    const { acknowledged, unsent } = sent[at] ?? { acknowledged: [], unsent: [] };
    const outcome = await session.wait(undefined, { timeoutMs: WAIT_MS });
    const state = await session.query();
    expect(outcome, `seed ${seed}: ${JSON.stringify(state)}`).toEqual({ outcome: 'idle' });
    expect(fates(state), `seed ${seed}`).toEqual(acknowledged.toSorted());
    expect(new Set(state.dropped.filter(({ reason }) => reason === 'unsent').map(({ id }) => id)), `seed ${seed}`).toEqual(new Set(unsent));
    const answered = state.runs.flatMap(({ messageIds }) => messageIds);
    expect(at === 0 ? answered : [], `seed ${seed}`).toEqual(at === 0 ? acknowledged : []);
    // no two runs of a session overlap
    const times = await Promise.all(state.runs.map(({ runId }) => client.get(runId).describe()));
    const overlaps = times.filter(({ startedAt }, n) => n > 0 && Date.parse(startedAt) < Date.parse(times[n - 1]?.closedAt ?? ''));
    expect(overlaps, `seed ${seed}`).toEqual([]);
  }
  await annotate(`seed ${seed}: ${SESSIONS} sessions × ${MESSAGES} messages, ${kills} kills, ${wire.requests.length} model calls`);
  await client.close();
});

/** What became of the messages of a session, each id as often as it stands there. */
function fates({ runs, dropped }: SessionState): string[] {
  return [...runs.flatMap(({ messageIds }) => messageIds), ...dropped.map(({ id }) => id)].toSorted();
}

interface Plan {
  readonly random: () => number;
  readonly isPlain: boolean;
}

/** Sends the messages of a session one after the other, some of them twice, and withdraws a few. */
async function sendAll(session: SessionHandle, { random, isPlain }: Plan): Promise<{ acknowledged: string[]; unsent: string[] }> {
  const acknowledged: string[] = [];
  const unsent: string[] = [];
  for (let n = 0; n < MESSAGES; n += 1) {
    const id = `m${n}`;
    const queue = QUEUE_MODES[Math.floor(random() * QUEUE_MODES.length)] ?? 'followup';
    const message: SendInput = { id, text: `message ${n}`, ...(isPlain ? {} : { queue }) };
    const { accepted } = await untilAnswered(() => session.send(message));
    if (accepted) acknowledged.push(id);
    const again = random() < 0.2 ? await untilAnswered(() => session.send(message)) : undefined;
    expect(again?.duplicate ?? accepted).toBe(accepted);
    if (!isPlain && random() < 0.15 && (await withdraw(session, id))) unsent.push(id);
    await delay(Math.floor(random() * 700));
  }
  return { acknowledged, unsent };
}

/** True when the message was withdrawn, also by a request whose answer was lost. */
async function withdraw(session: SessionHandle, id: string): Promise<boolean> {
  try {
    await untilAnswered(() => session.unsend(id));
    return true;
  } catch (error) {
    if (!(error instanceof PerdureError)) throw error;
    return (await untilAnswered(() => session.query())).dropped.some((message) => message.id === id);
  }
}

/** Repeats a request through missing workers and servers. */
async function untilAnswered<Answer>(request: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      const isAway = error instanceof PerdureError && error.exitCode === 5;
      if (!isAway) throw error;
      await delay(200);
    }
  }
}

/** Mulberry32: the same numbers for the same seed. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
