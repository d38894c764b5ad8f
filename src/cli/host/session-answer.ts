import { setTimeout as delay } from 'node:timers/promises';
import type { AgentClient } from '../../client/agent-client.js';
import type { SessionHandle } from '../../client/session-handle.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { RunResult } from '../../contracts/schemas/run.js';
import type { SessionRun } from '../../contracts/schemas/session.js';
import { type Following, followedItems } from '../follow/followed-items.js';
import { Outage } from '../follow/outage.js';

/** What became of a message: the run that answered it, or why none did. Empty after an interrupt. */
export interface SessionAnswer {
  readonly runId?: string;
  readonly result?: RunResult;
  readonly reason?: string;
  readonly problem?: string;
}

/** A message of a session. */
export interface AwaitedMessage {
  readonly client: AgentClient;
  readonly session: SessionHandle;
  readonly id: string;
  /** Runs that were shown. They are not shown again. @default none */
  readonly shown?: Set<string>;
}

const POLL_MS = 100;

/**
 * Follows a message to its answer, and shows the run that works on it. A message that was passed to a run which ended before it read it is
 * followed to the next run.
 */
export async function answerOf({ client, session, id, shown = new Set() }: AwaitedMessage, following: Following): Promise<SessionAnswer> {
  const { display, signal } = following;
  const outage = new Outage(display, signal);
  while (!signal.aborted) {
    const state = await outage.through(() => stateOf(session));
    if (!state || signal.aborted) break;
    const { runs, dropped } = state;
    const run = runs.findLast(({ messageIds }) => messageIds.includes(id));
    const drop = dropped.findLast((message) => message.id === id);
    if (drop) return { problem: `message ${id} was dropped: ${drop.reason}` };
    if (run?.reason === 'lost') return { runId: run.runId, reason: 'lost', problem: `run ${run.runId} was ended from outside` };
    if (run && !shown.has(run.runId)) {
      await showRun(client, run, { shown, following });
    } else if (run?.reason !== undefined) {
      const result = await client.get(run.runId).result({ signal });
      return { runId: run.runId, result, reason: run.reason };
    } else {
      await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  }
  return {};
}

/** Shows a run that a session lists. Its start may still be on its way to the server: it is not shown then. */
async function showRun(
  client: AgentClient,
  { runId, reason }: SessionRun,
  { shown, following }: { readonly shown: Set<string>; readonly following: Following },
): Promise<void> {
  try {
    for await (const _ of followedItems(client.get(runId), following)) shown.add(runId);
    shown.add(runId);
  } catch (error) {
    const isOnItsWay = error instanceof PerdureError && error.code === 'RUN_NOT_FOUND' && reason === undefined && !shown.has(runId);
    if (!isOnItsWay) throw error;
    await delay(POLL_MS, undefined, { signal: following.signal }).catch(() => undefined);
  }
}

/** The state of a session whose worker may be away for a moment. */
async function stateOf(session: SessionHandle): Promise<Awaited<ReturnType<SessionHandle['query']>>> {
  try {
    return await session.query();
  } catch (error) {
    if (!(error instanceof PerdureError) || error.code !== 'NO_WORKER') throw error;
    return { key: session.key, queued: [], runs: [], dropped: [] };
  }
}
