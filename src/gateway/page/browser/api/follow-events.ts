import type { GatewayApi } from './gateway-api.js';
import { isPassing } from './gateway-api.js';
import { EventReader, type ServerEvent } from './read-events.js';
import { ShownTime, untilShown } from './shown-time.js';

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
 * Follows a stream of events, through lost connections and restarts of the gateway: each event once, in batches as they arrive. A hidden tab
 * has no stream, and resumes at its place when it is shown: browsers open six connections to a server of HTTP/1.1, for all tabs together.
 * Ends when there are no more events, or when the signal aborts. Throws ApiError for a refusal that stays, such as an unknown run or token.
 */
export async function* followEvents(
  api: GatewayApi,
  path: string,
  { signal, onConnection }: FollowOptions,
): AsyncGenerator<readonly ServerEvent[]> {
  let after: string | undefined;
  let pauseMs = PAUSE_MS_MIN;
  while (!signal.aborted) {
    await untilShown(signal);
    const shown = new ShownTime(signal);
    try {
      const response = await api.open(path, { after, signal: shown.signal });
      if (response.status === 204) return;
      onConnection('open');
      for await (const events of batchesOf(response, shown.signal)) {
        pauseMs = PAUSE_MS_MIN;
        after = events.at(-1)?.id ?? after;
        yield events;
      }
    } catch (error) {
      // a stream that is cut off rejects with another error than a request
      if (!signal.aborted && error instanceof Error && error.name === 'ApiError' && !isPassing(error)) throw error;
    } finally {
      shown.end();
    }
    if (signal.aborted) return;
    if (shown.wasHidden) continue;
    onConnection('lost');
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX);
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
