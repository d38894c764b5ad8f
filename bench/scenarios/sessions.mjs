import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { AgentClient } from '../../dist/client/index.js';
import { round } from '../statistics.mjs';
import { until } from '../until.mjs';
import { withWorkerProcess } from '../worker-process.mjs';

const IDLE_SESSIONS = Number(process.env.BENCH_IDLE_SESSIONS ?? 10_000);
/** More than a worker keeps in its cache, so that what comes after them is the price of sessions alone. */
const WARM_UP_SESSIONS = 400;
const BUSY_SESSIONS = 50;
const SENDS_A_SESSION = Number(process.env.BENCH_SENDS ?? 1_000);
/** The server takes ten updates of a workflow at once. */
const AT_ONCE = 10;

/**
 * (q): what 10,000 sessions that have answered and are idle cost a worker process; and 1,000 messages to each of 50 sessions, sent at once.
 * Counts messages that were answered twice or not at all, or out of the order in which the session accepted them, and runs that overlap.
 */
export async function sessions(arena) {
  const taskQueue = 'bench-sessions';
  return withWorkerProcess(arena, { kind: 'perdure', taskQueue, execArgv: ['--expose-gc'] }, async (worker) => {
    const client = await AgentClient.connect({ address: arena.server.address, taskQueue });
    try {
      return { ...(await idleSessions({ arena, client, worker, taskQueue })), ...(await busySessions(client)) };
    } finally {
      await client.close();
    }
  });
}

async function idleSessions({ arena, client, worker, taskQueue }) {
  const { workflow } = new Client({ connection: arena.native });
  let started = 0;
  const startSessions = async (count) => {
    const end = started + count;
    const lane = async () => {
      while (started < end) await client.session(`idle-${started++}`).message(JSON.stringify({ turns: 1 }));
    };
    await Promise.all(Array.from({ length: 20 }, lane));
    const query = `WorkflowType = 'agentSession' AND TaskQueue = '${taskQueue}' AND AgentStatus = 'waiting'`;
    await until(async () => (await workflow.count(query)).count >= end, 'all sessions to be idle', 1_800_000);
    return worker.usage();
  };
  const before = await startSessions(WARM_UP_SESSIONS);
  const startedAt = performance.now();
  const after = await startSessions(IDLE_SESSIONS);
  const seconds = (performance.now() - startedAt) / 1_000;
  return {
    idleSessions: IDLE_SESSIONS,
    idleGrowthMiB: round((after.rssKiB - before.rssKiB) / 1_024),
    answersPerSecond: round(IDLE_SESSIONS / seconds),
  };
}

async function busySessions(client) {
  const sessions = Array.from({ length: BUSY_SESSIONS }, () => client.session(`busy-${randomUUID()}`, { queue: { mode: 'collect' } }));
  const startedAt = performance.now();
  // a session keeps its last 1,000 events, so they are read while they come
  const working = sessions.map((session) => {
    const sending = sendAll(session);
    return { sending, reading: readEvents(session, sending) };
  });
  const accepted = await Promise.all(working.map(({ sending }) => sending));
  const seconds = (performance.now() - startedAt) / 1_000;
  const events = await Promise.all(working.map(({ reading }) => reading));
  const checked = events.map((of, at) => checkSession(of, accepted[at]));
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  return {
    busySessions: BUSY_SESSIONS,
    sends: BUSY_SESSIONS * SENDS_A_SESSION,
    sendsPerSecond: round((BUSY_SESSIONS * SENDS_A_SESSION) / seconds),
    accepted: sum(accepted.map((ids) => ids.size)),
    disordered: sum(checked.map(({ disordered }) => disordered)),
    lostOrDoubled: sum(checked.map(({ lostOrDoubled }) => lostOrDoubled)),
    overlapping: sum(checked.map(({ overlapping }) => overlapping)),
  };
}

/** Sends all messages of a session, so many at once as the server takes. Returns the ids of the accepted ones. */
async function sendAll(session) {
  const accepted = new Set();
  let sent = 0;
  const lane = async () => {
    while (sent < SENDS_A_SESSION) {
      const id = `m${sent++}`;
      const receipt = await sendUntilTaken(session, { id, text: JSON.stringify({ turns: 1 }) });
      if (receipt.accepted) accepted.add(id);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return accepted;
}

/** A busy session says to send the message again with the same id. */
async function sendUntilTaken(session, message) {
  for (;;) {
    try {
      return await session.send(message);
    } catch (error) {
      if (error.exitCode !== 5) throw error;
    }
  }
}

/** Compares the events of a session with the receipts of its sender. */
function checkSession(events, accepted) {
  const answered = [];
  let overlapping = 0;
  let active;
  for (const event of events) {
    if (event.type === 'session.run.started') {
      if (active !== undefined) overlapping += 1;
      active = event.runId;
    }
    if (event.type !== 'session.run.ended') continue;
    active = undefined;
    answered.push(...event.messageIds);
  }
  const order = events.filter(({ type }) => type === 'message.accepted').map(({ id }) => id);
  return {
    disordered: answered.filter((id, at) => id !== order[at]).length,
    lostOrDoubled: answered.length - new Set(answered).size + [...accepted].filter((id) => !answered.includes(id)).length,
    overlapping,
  };
}

/** All events of a session, until everything was sent and the session is idle. */
async function readEvents(session, sending) {
  const events = [];
  const readNew = async () => {
    const { first, next, events: page } = await session.events({ after: events.at(-1)?.seq ?? 0 });
    if (page.length > 0 && page[0].seq > (events.at(-1)?.seq ?? 0) + 1)
      throw new Error(`session ${session.key} kept its events from ${first} to ${next}`);
    events.push(...page);
    return page.length;
  };
  let isSent = false;
  const sent = sending.then(() => {
    isSent = true;
  });
  while (!isSent) {
    await readNew().catch(ignoreBusy);
    await Promise.race([sent, pause(250)]);
  }
  await session.wait(undefined, { timeoutMs: 600_000 });
  while ((await readNew()) > 0);
  return events;
}

/** A session that is not there yet, or too busy to answer. */
function ignoreBusy(error) {
  if (error.code !== 'NO_SESSION' && error.exitCode !== 5) throw error;
}
