import { createHash } from 'node:crypto';
import type { SessionEventPage } from '../../../contracts/schemas/session.js';
import { type Cursor, END, readCursor, writeCursor, writeEnd } from './cursor.js';

/** A place in the events of a session: behind an event of its own, and in the run that it follows. */
export interface SessionCursor {
  /** `seq` of the last event of the session. 0: none. */
  readonly event: number;
  /** The mark of the session's first execution. A session that was started anew counts from 1 again. */
  readonly execution?: string;
  readonly run?: RunPlace;
}

/** A place in a run of a session. `END`: behind its result. */
export interface RunPlace {
  readonly runId: string;
  readonly cursor: Cursor | typeof END;
}

/** The id of an event of a session's stream. Valid on every gateway, for this session only. */
export function writeSessionCursor(key: string, { event, execution, run }: SessionCursor): string {
  const place = run
    ? `~${encodeURIComponent(run.runId)}~${run.cursor === END ? writeEnd(run.runId) : writeCursor(run.runId, run.cursor)}`
    : '';
  return `${markOf(key)}~${event}${execution === undefined ? '' : `.${execution}`}${place}`;
}

/** Reads a `Last-Event-ID`. An id of another session, or of another form, is the beginning. Never throws. */
export function readSessionCursor(key: string, id: string | undefined): SessionCursor {
  const [mark, event = '', run, cursor] = (id ?? '').split('~');
  const { seq, execution } = /^(?<seq>\d{1,15})(?:\.(?<execution>[0-9a-f]{8}))?$/u.exec(event)?.groups ?? {};
  if (mark !== markOf(key) || seq === undefined) return { event: 0 };
  const place = { event: Number(seq), ...(execution === undefined ? {} : { execution }) };
  if (run === undefined) return place;
  const runId = decode(run);
  if (runId === undefined || !isRunOf(key, runId)) return { event: 0 };
  return { ...place, run: { runId, cursor: readCursor(runId, cursor) } };
}

/** The mark of the execution of a page, as a cursor has it. A worker of an earlier version does not name it. */
export function executionOf({ executionId }: Pick<SessionEventPage, 'executionId'>, known?: string): string | undefined {
  // the beginning of an id is a time, which two executions may share
  return executionId === undefined ? known : hashOf(executionId);
}

/** True for an id that the session gives its runs. The mark of a client's own stream would let any other run in. */
function isRunOf(key: string, runId: string): boolean {
  return runId.startsWith(`${key}/`) && /^\d{1,15}$/u.test(runId.slice(key.length + 1));
}

function markOf(key: string): string {
  return hashOf(`session/${key}`);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
