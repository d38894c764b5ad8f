import { defineSignal, setHandler } from '@temporalio/workflow';
import { DECISION_LIMITS } from '../../contracts/constants/limits.js';
import type { Fault } from '../../contracts/verbs/fields.js';
import { SIGNALS, type SignalName } from '../../contracts/verbs/index.js';
import { readVerb, type Verb } from '../../contracts/verbs/verb.js';
import { connectInbox, type HandlerContext } from './handler-context.js';

/** Handles one signal. Contract: never awaits, never throws. */
type SignalHandler = (context: HandlerContext, given: unknown) => void;

const HANDLERS: Readonly<Record<SignalName, SignalHandler>> = {
  steer: handler(SIGNALS.steer, (context, message, fault) => {
    const { inbox, events } = context;
    const receipt = fault ? inbox.refuseInput(`${fault.code}: ${fault.message}`) : inbox.enqueue(message);
    if (receipt.accepted && !receipt.duplicate) events.add({ type: 'steer.accepted', id: receipt.id, position: receipt.position });
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
  hold: handler(SIGNALS.hold, (context, { ttlMs = DECISION_LIMITS.holdTtlMsDefault, by = 'a conversation' }) => {
    const until = Date.now() + ttlMs;
    context.inbox.hold = { until, by };
    context.events.add({ type: 'held', by, until: new Date(until).toISOString() });
  }),
  release: handler(SIGNALS.release, (context) => {
    if (!context.inbox.hold) return;
    context.inbox.hold = undefined;
    context.events.add({ type: 'released', why: 'release' });
  }),
};

/** Registers the signals. The server stores them also while no worker runs, and a signal is never rejected. */
export function registerSignals(context: HandlerContext): void {
  connectInbox(context);
  for (const [name, handle] of Object.entries(HANDLERS)) {
    const { description } = SIGNALS[name as SignalName];
    setHandler(defineSignal<[unknown]>(name), (given) => handle(context, given), { description });
  }
}

/** A handler that parses its input with the verb's schema. `fault`: why the input is invalid. */
function handler<Input extends object>(
  verb: Verb<Input, unknown>,
  effect: (context: HandlerContext, input: Input, fault: Fault | undefined) => void,
): SignalHandler {
  return (context, given) => {
    context.inbox.signals += 1;
    const { value, fault } = readVerb(verb, given, 'tolerant');
    effect(context, value, fault);
  };
}
