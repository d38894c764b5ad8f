/** One event of a token stream. Never part of history; a lossy sink is acceptable, because the transcript has the final message. */
export type StreamEvent = { readonly runId: string; readonly turn: number; readonly attempt: number; readonly seq: number } & (
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | { readonly type: 'tool_call'; readonly name: string }
  /** An earlier attempt of this turn is superseded: drop what it showed. */
  | { readonly type: 'reset' }
  | { readonly type: 'end' }
);

/** Where activities publish tokens. Contract: `publish` never throws and never blocks the run; events of one run keep their order. */
export interface StreamSink {
  publish(event: StreamEvent): void;
  /** Resolves when all that was published is readable by watchers. */
  flush(runId: string): Promise<void>;
}

/** Where watchers read tokens. Yields what happened so far, then the tail, until the signal aborts. */
export interface StreamSource {
  read(runId: string, signal: AbortSignal): AsyncIterable<StreamEvent>;
}
