import type { GatewayApi } from './gateway-api.js';
import { isPassing } from './gateway-api.js';
import { EventReader, type ServerEvent } from './read-events.js';

/** Whether events arrive. */
export type Connection = 'connecting' | 'open' | 'lost';

/** What a follower needs. */
export interface FollowOptions {
  readonly signal: AbortSignal;
  /** Called when the connection changes. */
  readonly onConnection: (connection: Connection) => void;
}

const PAUSE_MS_MIN = 500;
const PAUSE_MS_MAX = 5_000;
/** The gateway writes a comment every 15 s. A connection without a byte for three times as long is lost, though the browser does not notice. */
const SILENCE_MS = 45_000;

/**
 * Follows a stream of events, through lost connections and restarts of the gateway: each event once, in batches as they arrive. Ends when
 * there are no more, or when the signal aborts. Throws ApiError for a refusal that stays, such as an unknown run or token.
 */
export async function* followEvents(
  api: GatewayApi,
  path: string,
  { signal, onConnection }: FollowOptions,
): AsyncGenerator<readonly ServerEvent[]> {
  let after: string | undefined;
  for (let pauseMs = PAUSE_MS_MIN; !signal.aborted; pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
    try {
      const response = await api.open(path, { after, signal });
      if (response.status === 204) return;
      onConnection('open');
      for await (const events of batchesOf(response, signal)) {
        pauseMs = PAUSE_MS_MIN;
        after = events.at(-1)?.id ?? after;
        yield events;
      }
    } catch (error) {
      if (signal.aborted) return;
      // a stream that is cut off rejects with another error than a request
      if (error instanceof Error && error.name === 'ApiError' && !isPassing(error)) throw error;
    }
    if (signal.aborted) return;
    onConnection('lost');
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

async function* batchesOf(response: Response, signal: AbortSignal): AsyncGenerator<readonly ServerEvent[]> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  const events = new EventReader();
  try {
    for (;;) {
      const piece = await withinSilence(reader.read());
      if (piece === 'silent' || piece.done || signal.aborted) return;
      const batch = events.read(piece.value);
      if (batch.length > 0) yield batch;
    }
  } finally {
    // the connection may be lost already
    await reader.cancel().catch(() => undefined);
  }
}

async function withinSilence<Piece>(read: Promise<Piece>): Promise<Piece | 'silent'> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<'silent'>((resolve) => {
    timer = setTimeout(() => resolve('silent'), SILENCE_MS);
  });
  try {
    return await Promise.race([read, silence]);
  } finally {
    clearTimeout(timer);
  }
}
