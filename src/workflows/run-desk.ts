import type { RunInput, RunResult } from '../contracts/run.js';
import type { EventLog } from './event-log.js';
import { inputFailure } from './failures.js';
import type { Inbox } from './inbox.js';
import { publishStatus } from './progress.js';
import type { Run } from './run.js';

/** What handlers see of a run: the inbox at once, the rest once it is prepared. */
export interface RunDesk {
  readonly input: RunInput;
  readonly inbox: Inbox;
  readonly events: EventLog;
  run: Run | undefined;
  /** The result of a run that could not be prepared. */
  refused: RunResult | undefined;
}

/** The prepared run; throws `Input.Invalid` before there is one. */
export function openRun({ run }: RunDesk): Run {
  if (!run) throw inputFailure('NOT_PREPARED: the run is not prepared yet; try again in a moment');
  return run;
}

/** An operator who looks at the Web UI sees that the message waits. No command: only what a query shows. */
export function showInbox({ run }: RunDesk): void {
  if (run) publishStatus(run);
}
