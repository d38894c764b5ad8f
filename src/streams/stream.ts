/**
 * One event of a token stream. Streams are never part of the history. A sink may lose events, because the transcript contains the whole
 * message.
 */
export type StreamEvent = {
  readonly runId: string;
  readonly turn: number;
  /** The attempt of the activity. It starts at 1 again when another worker takes the call over: compare `epoch` instead. */
  readonly attempt: number;
  /**
   * When the server scheduled the attempt, in milliseconds: it tells attempts apart. Each attempt of a run has a greater epoch than those
   * before it, on whichever worker it runs.
   */
  readonly epoch: number;
  /** The number of the event within its attempt, without holes. The first event, `reset`, has 1. */
  readonly seq: number;
} & StreamEventBody;

/** What an event adds to a stream. */
export type StreamEventBody =
  /** `firstSeq`: the number of the first piece, if the text was merged of several. `seq` is that of the last one. @default seq */
  | { readonly type: 'text'; readonly text: string; readonly firstSeq?: number }
  | { readonly type: 'thinking'; readonly text: string; readonly firstSeq?: number }
  | { readonly type: 'tool_call'; readonly name: string }
  /**
   * A new attempt begins. Drop the text of this turn. `final`: that of the reserved final answer, which has the number of the last turn and
   * does not replace it: drop only the text of an earlier attempt that was final too.
   */
  | { readonly type: 'reset'; readonly final?: true }
  | { readonly type: 'end' }
  /** Events are missing here: a buffer was full, or the store lost or trimmed them. Only sources make it; never publish it. */
  | { readonly type: 'gap' };

/** An event as a source yields it. */
export type StreamEntry = StreamEvent & {
  /** The place behind this event, for `after` of `read`. Opaque, and valid for every source of the same store, also after restarts. */
  readonly id: string;
};

/**
 * Receives the tokens that activities publish.
 *
 * Contract: `publish` never throws and never waits. Events of one run keep their order. A sink has bounded memory: it drops events rather
 * than to wait for a store that is slow or gone. It may store an event twice, but never out of order. Merged text keeps `firstSeq` and `seq`.
 */
export interface StreamSink {
  publish(event: StreamEvent): void;
  /**
   * Resolves when all published events of the run are readable, or after a short time if the store does not answer: an activity waits for
   * it at the end of each model call. Never rejects.
   */
  flush(runId: string): Promise<void>;
}

/**
 * The source of tokens for watchers.
 *
 * Contract: `read` yields past events, then new ones, until the signal aborts. It waits for a run without a stream. It continues through
 * lost connections where it was. Events that were flushed before the abort are still yielded. Each event is yielded once; those of an
 * attempt that was superseded end with its `reset`; where events are missing, it yields `gap`. `AttemptOrder` does all of this for events in
 * stored order. Iterations may run in parallel, also for the same run.
 */
export interface StreamSource {
  /**
   * Reads the stream of a run.
   *
   * @param after the `id` of the last event that you have. An unknown id reads from the beginning. @default the beginning
   */
  read(runId: string, signal: AbortSignal, after?: string): AsyncIterable<StreamEntry>;
}
