/** One event of a token stream. Never part of the history. A sink may lose events, because the transcript contains the final message. */
export type StreamEvent = { readonly runId: string; readonly turn: number; readonly attempt: number; readonly seq: number } & (
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | { readonly type: 'tool_call'; readonly name: string }
  /** An earlier attempt of this turn is superseded. Drop its text. */
  | { readonly type: 'reset' }
  | { readonly type: 'end' }
);

/** Receives the tokens that activities publish. Contract: `publish` never throws and never blocks the run; events of one run keep their order. */
export interface StreamSink {
  publish(event: StreamEvent): void;
  /** Resolves when all published events are readable. */
  flush(runId: string): Promise<void>;
}

/** The source of tokens for watchers. Yields past events, then new ones, until the signal aborts. */
export interface StreamSource {
  read(runId: string, signal: AbortSignal): AsyncIterable<StreamEvent>;
}
