import type { RunEvent } from '../contracts/event.js';
import type { Progress, RunResult } from '../contracts/schemas/run.js';
import type { StreamEvent } from '../streams/stream.js';

/**
 * One thing a watcher is told. `notice` is about the watching, not the run: no worker answers, or the connection is lost for now.
 * `result` comes exactly once, last.
 */
export type WatchItem =
  | { readonly type: 'event'; readonly event: RunEvent }
  | { readonly type: 'progress'; readonly progress: Progress }
  | { readonly type: 'stream'; readonly event: StreamEvent }
  | { readonly type: 'notice'; readonly code: string; readonly message: string }
  | { readonly type: 'result'; readonly result: RunResult };
