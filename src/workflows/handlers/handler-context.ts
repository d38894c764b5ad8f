import type { RunInput, RunResult, SteerRecord } from '../../contracts/schemas/run.js';
import { publishStatus } from '../operator/progress.js';
import type { EventLog } from '../state/event-log.js';
import type { Inbox } from '../state/inbox.js';
import type { Run } from '../state/run.js';
import { inputFailure } from '../temporal/failures.js';

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

/** Lets what comes into the inbox have its effect: an interrupt ends the running model call, and how each message ended is told. */
export function followInbox(desk: RunDesk): void {
  const { inbox, events } = desk;
  inbox.heedsModes = () => desk.run?.prepared.policy !== undefined;
  // runs of older versions have no route
  inbox.followsDirectives = () => desk.run?.prepared.route !== undefined;
  inbox.onInterrupt = () => {
    if (desk.run?.phase !== 'model') return false;
    desk.run.calls.interruptModel();
    return true;
  };
  inbox.onSettled = (record) => tellEnd(events, record);
}

function tellEnd(events: EventLog, { id, state, into = '', reason = '' }: SteerRecord): void {
  switch (state) {
    case 'merged':
      return events.add({ type: 'steer.merged', id, into });
    case 'refused':
      return events.add({ type: 'steer.refused', id, reason });
    case 'expired':
      return events.add({ type: 'steer.expired', id });
    case 'unconsumed':
      return events.add({ type: 'steer.unconsumed', id });
    case 'queued':
    case 'delivered':
      // the loop tells which turn reads it
      return;
  }
}
