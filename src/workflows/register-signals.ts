import { setHandler } from '@temporalio/workflow';
import * as handlers from '../contracts/handlers.js';
import { HANDLER_DESCRIPTIONS as describe } from '../contracts/handlers.js';
import type { Inbox } from './inbox.js';
import { type RunDesk, showInbox } from './run-desk.js';

/** Sets the signals: they are durable also without a worker, and never refused. */
export function registerSignals(desk: RunDesk): void {
  const { inbox, events } = desk;
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
}

function setPaused(inbox: Inbox, paused: boolean): void {
  inbox.signals += 1;
  inbox.paused = paused;
}
