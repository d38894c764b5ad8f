import type { RunInput, RunResult, SteerRecord } from '../../contracts/schemas/run.js';
import type { EventLog } from '../state/event-log.js';
import type { Inbox } from '../state/inbox.js';
import type { Run } from '../state/run.js';
import type { ParentContinued } from '../state/subagents/parent-continued.js';
import { inputFailure } from '../temporal/failures.js';

/** The state that handlers work on: input, inbox and events from the start, the run once it is prepared. */
export interface HandlerContext {
  readonly input: RunInput;
  readonly inbox: Inbox;
  readonly events: EventLog;
  run: Run | undefined;
  /** The result of a run that could not be prepared. */
  refused: RunResult | undefined;
  readonly parentContinued: ParentContinued;
  /** Why the run cannot be prepared yet. */
  waitingFor?: string | undefined;
}

/** The prepared run. Throws `Input.Invalid` with `NOT_PREPARED` before there is one. */
export function preparedRun({ run }: HandlerContext): Run {
  if (!run) throw inputFailure('NOT_PREPARED: the run is not prepared yet. Try again in a moment.');
  return run;
}

/** Connects the inbox to the run: an interrupt aborts the running model call, and the final state of each message becomes an event. */
export function connectInbox(context: HandlerContext): void {
  const { inbox, events } = context;
  inbox.supportsModes = () => context.run?.prepared.policy !== undefined;
  // runs prepared by older versions have no route
  inbox.appliesDirectives = () => context.run?.prepared.route !== undefined;
  inbox.limitsDirectives = () => context.run?.policy.limitsDirectives === true;
  inbox.limitsInbox = () => context.run?.policy.limitsInbox === true;
  inbox.onInterrupt = () => {
    if (context.run?.phase !== 'model') return false;
    context.run.calls.interruptModel();
    return true;
  };
  inbox.onSettled = (record) => recordSteerEnd(events, record);
}

function recordSteerEnd(events: EventLog, { id, state, into = '', reason = '' }: SteerRecord): void {
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
      // the loop adds the event, with the turn
      return;
  }
}
