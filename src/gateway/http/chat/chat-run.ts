import type { SessionHandle } from '../../../client/session-handle.js';
import { HTTP_LIMITS, SESSION_LIMITS } from '../../../contracts/constants/limits.js';
import { PerdureError } from '../../../contracts/perdure-error.js';
import type { SessionState } from '../../../contracts/schemas/session.js';
import { isPassing } from '../access/http-error.js';
import type { StreamClient } from '../events/stream-client.js';

/** The state of a session. Undefined for one that no message started. */
export async function stateOf(session: SessionHandle): Promise<SessionState | undefined> {
  try {
    return await session.query();
  } catch (error) {
    if (!(error instanceof PerdureError) || error.code !== 'NO_SESSION') throw error;
    return undefined;
  }
}

/** Where a message is: with a run, in the queue, or dropped. Undefined for one that the session does not list. */
export type MessagePlace = { readonly runId: string; readonly isOpen: boolean } | { readonly dropped: string } | 'queued';

/** Finds a message among the runs, the queue and the dropped messages of a session. */
export function placeOf(id: string, { runs, queued, dropped }: SessionState): MessagePlace | undefined {
  const run = runs.findLast(({ messageIds }) => messageIds.includes(id));
  if (run) return { runId: run.runId, isOpen: run.reason === undefined };
  if (queued.some((message) => message.id === id)) return 'queued';
  const drop = dropped.findLast((message) => message.id === id);
  return drop && { dropped: drop.reason };
}

/** How a message is sent once more. */
export interface Resent {
  /** Its id, or one that is made of it: an id counts once, also if its message was dropped. */
  readonly id: string;
  /** Where the message of this id is. Undefined for one that the session does not list. */
  readonly place: MessagePlace | undefined;
}

/** How a page that asks for an answer again sends a message. Two pages get the same id, so that the message is sent once. */
export function resend(id: string, state: SessionState): Resent {
  for (let times = 1; ; times += 1) {
    const resent = times === 1 ? id : `${id}.${times}`;
    const place = placeOf(resent, state);
    const isDropped = typeof place === 'object' && 'dropped' in place;
    if (!isDropped || times === RESENT_MAX) return { id: resent, place };
  }
}

/** A message that is dropped so often is dropped for a reason that stays. */
const RESENT_MAX = 10;

/**
 * Waits until a message has a run or is dropped. Undefined if the client leaves, if `isOver` is true, or if the session does not list the
 * message: it was ended, and started anew. Continues through a missing worker and an outage of the server.
 */
export async function awaitRunOf(
  id: string,
  session: SessionHandle,
  { client, isOver }: { readonly client: StreamClient; readonly isOver: () => boolean },
): Promise<Exclude<MessagePlace, 'queued'> | undefined> {
  let missed = 0;
  for (
    let pauseMs = PAUSE_MS_MIN;
    missed < MISSED_MAX && !client.hasLeft && !isOver();
    pauseMs = Math.min(2 * pauseMs, SESSION_LIMITS.followEveryMs)
  ) {
    const state = await stateOf(session).catch(ifPassing);
    const place = state && placeOf(id, state);
    if (place !== undefined && place !== 'queued') return place;
    if (state && place === undefined) missed += 1;
    await client.pause(pauseMs);
  }
  return undefined;
}

/** Most sessions start a run at once. */
const PAUSE_MS_MIN = 20;

/** A message that was accepted is listed at once. */
const MISSED_MAX = 5;

/** What a client that resumes a chat gets: the active run, the next one, or the last one if it ended a short time ago. */
export async function resumedRunOf(session: SessionHandle, now: number): Promise<{ runId: string } | { messageId: string } | undefined> {
  const state = await stateOf(session);
  if (!state) return undefined;
  if (state.active !== undefined) return { runId: state.active };
  const [next] = state.queued;
  if (next) return { messageId: next.id };
  const last = (await session.events({ types: ['session.run.ended'] })).events.at(-1);
  return last?.type === 'session.run.ended' && now - last.at < HTTP_LIMITS.chatResumeMs ? { runId: last.runId } : undefined;
}

function ifPassing(error: unknown): undefined {
  if (!isPassing(error)) throw error;
}
