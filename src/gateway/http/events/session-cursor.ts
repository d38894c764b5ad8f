import { createHash } from 'node:crypto';
import { type Cursor, END, readCursor, writeCursor, writeEnd } from './cursor.js';

/** A place in the events of a session: behind an event of its own, and in the run that it follows. */
export interface SessionCursor {
  /** `seq` of the last event of the session. 0: none. */
  readonly event: number;
  readonly run?: RunPlace;
}

/** A place in a run of a session. `END`: behind its result. */
export interface RunPlace {
  readonly runId: string;
  readonly cursor: Cursor | typeof END;
}

/** The id of an event of a session's stream. Valid on every gateway, for this session only. */
export function writeSessionCursor(key: string, { event, run }: SessionCursor): string {
  const place = run
    ? `~${encodeURIComponent(run.runId)}~${run.cursor === END ? writeEnd(run.runId) : writeCursor(run.runId, run.cursor)}`
    : '';
  return `${markOf(key)}~${event}${place}`;
}

/** Reads a `Last-Event-ID`. An id of another session, or of another form, is the beginning. Never throws. */
export function readSessionCursor(key: string, id: string | undefined): SessionCursor {
  const [mark, event = '', run, cursor] = (id ?? '').split('~');
  if (mark !== markOf(key) || !/^\d{1,15}$/u.test(event)) return { event: 0 };
  if (run === undefined) return { event: Number(event) };
  const runId = decode(run);
  if (runId === undefined || !isRunOf(key, runId)) return { event: 0 };
  return { event: Number(event), run: { runId, cursor: readCursor(runId, cursor) } };
}

/** True for an id that the session gives its runs. The mark of a client's own stream would let any other run in. */
function isRunOf(key: string, runId: string): boolean {
  return runId.startsWith(`${key}/`) && /^\d{1,15}$/u.test(runId.slice(key.length + 1));
}

function markOf(key: string): string {
  return createHash('sha256').update(`session/${key}`).digest('hex').slice(0, 8);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
