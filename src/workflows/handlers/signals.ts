import { defineSignal, setHandler } from '@temporalio/workflow';
import { DECISION_LIMITS } from '../../contracts/constants/limits.js';
import type { Fault } from '../../contracts/verbs/fields.js';
import { SIGNALS, type SignalName } from '../../contracts/verbs/index.js';
import { readVerb, type Verb } from '../../contracts/verbs/verb.js';
import { followInbox, type RunDesk, showInbox } from './handler-context.js';

/** Handles one signal. Contract: awaits nothing, throws nothing. */
type SignalHandler = (desk: RunDesk, given: unknown) => void;

const HANDLERS: Readonly<Record<SignalName, SignalHandler>> = {
  steer: handler(SIGNALS.steer, (desk, message, fault) => {
    const { inbox, events } = desk;
    const receipt = fault ? inbox.refuseInput(`${fault.code}: ${fault.message}`) : inbox.enqueue(message);
    if (receipt.accepted && !receipt.duplicate) events.add({ type: 'steer.accepted', id: receipt.id, position: receipt.position });
    showInbox(desk);
  }),
  cancel: handler(SIGNALS.cancel, ({ inbox, events }, { reason = '' }) => {
    inbox.requestCancel({ source: 'signal', reason });
    events.add({ type: 'cancel.requested', reason });
  }),
  pause: handler(SIGNALS.pause, ({ inbox }) => {
    inbox.paused = true;
  }),
  resume: handler(SIGNALS.resume, ({ inbox }) => {
    inbox.paused = false;
  }),
  // a second hold sets a new expiry
  hold: handler(SIGNALS.hold, (desk, { ttlMs = DECISION_LIMITS.holdTtlMsDefault, by = 'a conversation' }) => {
    const until = Date.now() + ttlMs;
    desk.inbox.hold = { until, by };
    desk.events.add({ type: 'held', by, until: new Date(until).toISOString() });
    showInbox(desk);
  }),
  release: handler(SIGNALS.release, (desk) => {
    if (!desk.inbox.hold) return;
    desk.inbox.hold = undefined;
    desk.events.add({ type: 'released', why: 'release' });
    showInbox(desk);
  }),
};

/** Sets the signals. They are durable without a worker, and never refused. */
export function registerSignals(desk: RunDesk): void {
  followInbox(desk);
  for (const [name, handle] of Object.entries(HANDLERS)) {
    const { description } = SIGNALS[name as SignalName];
    setHandler(defineSignal<[unknown]>(name), (given) => handle(desk, given), { description });
  }
}

/** A handler that reads its input as the verb's entry says; `fault`: the input lacks what the verb needs. */
function handler<Input extends object>(
  verb: Verb<Input, unknown>,
  effect: (desk: RunDesk, input: Input, fault: Fault | undefined) => void,
): SignalHandler {
  return (desk, given) => {
    desk.inbox.signals += 1;
    const { value, fault } = readVerb(verb, given, 'tolerant');
    effect(desk, value, fault);
  };
}
