import { setHandler } from '@temporalio/workflow';
import { DECISION_LIMITS } from '../../contracts/constants/limits.js';
import * as handlers from '../../contracts/handlers.js';
import { HANDLER_DESCRIPTIONS as describe } from '../../contracts/handlers.js';
import type { CarriedState } from '../../contracts/schemas/carried-state.js';
import { cleanText } from '../../contracts/text/sanitize-text.js';
import type { Inbox } from '../state/inbox.js';
import { heedInbox, type RunDesk, showInbox } from './handler-context.js';

/** Sets the signals: they are durable also without a worker, and never refused. */
export function registerSignals(desk: RunDesk): void {
  const { inbox, events } = desk;
  heedInbox(desk);
  setHandler(
    handlers.steer,
    (input) => {
      inbox.signals += 1;
      const receipt = inbox.enqueue(input);
      if (receipt.accepted && !receipt.duplicate) events.add({ type: 'steer.accepted', id: receipt.id, position: receipt.position });
      showInbox(desk);
    },
    { description: describe.steer },
  );
  setHandler(
    handlers.cancel,
    (input) => {
      inbox.signals += 1;
      const reason = typeof input?.reason === 'string' ? input.reason.slice(0, 500) : '';
      inbox.requestCancel({ source: 'signal', reason });
      events.add({ type: 'cancel.requested', reason });
    },
    { description: describe.cancel },
  );
  setHandler(handlers.pause, () => setPaused(inbox, true), { description: describe.pause });
  setHandler(handlers.resume, () => setPaused(inbox, false), { description: describe.resume });
  setHandler(handlers.hold, (input) => hold(desk, input), { description: describe.hold });
  setHandler(handlers.release, () => release(desk), { description: describe.release });
}

function setPaused(inbox: Inbox, paused: boolean): void {
  inbox.signals += 1;
  inbox.paused = paused;
}

/** A second hold sets the end of the first one anew. */
function hold(desk: RunDesk, input: unknown): void {
  const { inbox, events } = desk;
  inbox.signals += 1;
  const { until, by } = readHold(input);
  inbox.hold = { until, by };
  events.add({ type: 'held', by, until: new Date(until).toISOString() });
  showInbox(desk);
}

function release(desk: RunDesk): void {
  const { inbox, events } = desk;
  inbox.signals += 1;
  if (!inbox.hold) return;
  inbox.hold = undefined;
  events.add({ type: 'released', why: 'release' });
  showInbox(desk);
}

/** A hold from whatever client: its time is brought within the limits. */
function readHold(input: unknown): NonNullable<CarriedState['hold']> {
  const given = input !== null && typeof input === 'object' ? input : {};
  const asked = 'ttlMs' in given && typeof given.ttlMs === 'number' ? given.ttlMs : Number.NaN;
  const ttlMs = Number.isNaN(asked) ? DECISION_LIMITS.holdTtlMsDefault : asked;
  const by = 'by' in given && typeof given.by === 'string' ? cleanText(given.by).trim() : '';
  return {
    until: Date.now() + Math.min(Math.max(Math.round(ttlMs), DECISION_LIMITS.holdTtlMsMin), DECISION_LIMITS.holdTtlMsMax),
    by: by === '' ? 'a conversation' : by.slice(0, DECISION_LIMITS.byCharsMax),
  };
}
