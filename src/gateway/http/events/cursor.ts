import { createHash } from 'node:crypto';

/** A place in the events of a run: behind an event, and behind a piece of its token stream. */
export interface Cursor {
  /** `seq` of the last event. 0: none. */
  readonly event: number;
  /** The last piece of the token stream. */
  readonly token?: TokenPlace;
}

/** A place in a token stream. Later places have a greater epoch, or the same and a greater seq. */
export interface TokenPlace {
  /** The place as the source of the stream names it. */
  readonly id: string;
  readonly epoch: number;
  readonly seq: number;
  readonly turn: number;
  /** True in the reserved final answer, which has the number of the last turn. */
  readonly isFinal: boolean;
}

const START: Cursor = { event: 0 };

/** The id behind the result. */
export const END = 'end';

/** The id of an event: the place behind it. Valid on every gateway, for this run only. */
export function writeCursor(runId: string, { event, token }: Cursor): string {
  const place = token ? `.${token.turn}${token.isFinal ? 'f' : ''}.${token.epoch}.${token.seq}.${encodeURIComponent(token.id)}` : '';
  return `${markOf(runId)}.${event}${place}`;
}

/** The id of the result. */
export function writeEnd(runId: string): string {
  return `${markOf(runId)}.${END}`;
}

/** Reads a `Last-Event-ID`. An id of another run, or of another form, is the beginning. Never throws. */
export function readCursor(runId: string, id: string | undefined): Cursor | typeof END {
  if (id === writeEnd(runId)) return END;
  const form =
    /^(?<mark>[0-9a-f]{8})\.(?<event>\d{1,15})(?:\.(?<turn>\d{1,15})(?<final>f?)\.(?<epoch>\d{1,15})\.(?<seq>\d{1,15})\.(?<id>[\x21-\x7e]{1,600}))?$/u;
  const { mark, event, turn, final, epoch, seq, id: encoded } = form.exec(id ?? '')?.groups ?? {};
  if (mark !== markOf(runId)) return START;
  if (encoded === undefined) return { event: Number(event) };
  const tokenId = decode(encoded);
  if (tokenId === undefined) return START;
  return {
    event: Number(event),
    token: { id: tokenId, epoch: Number(epoch), seq: Number(seq), turn: Number(turn), isFinal: final === 'f' },
  };
}

/** True if the first place in a token stream is the second one, or behind it. No place is before every place. */
export function isAtOrBehind(a: Pick<TokenPlace, 'epoch' | 'seq'> | undefined, b: Pick<TokenPlace, 'epoch' | 'seq'> | undefined): boolean {
  if (!b) return true;
  if (!a) return false;
  return a.epoch > b.epoch || (a.epoch === b.epoch && a.seq >= b.seq);
}

/** True if nothing before the first cursor is behind the second one. */
export function covers(cursor: Cursor, start: Cursor): boolean {
  return cursor.event >= start.event && isAtOrBehind(cursor.token, start.token);
}

/** The place behind both cursors. */
export function furthest(a: Cursor, b: Cursor): Cursor {
  const { token } = isAtOrBehind(a.token, b.token) ? a : b;
  return { event: Math.max(a.event, b.event), ...(token ? { token } : {}) };
}

function markOf(runId: string): string {
  return createHash('sha256').update(runId).digest('hex').slice(0, 8);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
