import { defineSignal, defineUpdate, setHandler, workflowInfo } from '@temporalio/workflow';
import { hashContent } from '../../contracts/digest.js';
import { SESSION_DESCRIPTIONS as describe, SESSION_HANDLERS } from '../../contracts/handlers.js';
import type { Receipt } from '../../contracts/schemas/run.js';
import type { SendInput } from '../../contracts/schemas/session.js';
import { SESSION_SIGNALS, SESSION_UPDATES } from '../../contracts/verbs/index.js';
import { readVerb } from '../../contracts/verbs/verb.js';
import { inputFailure } from '../temporal/failures.js';
import type { Session } from './session.js';
import { isSteer, modeOf, partsOf, type QueuedSend } from './session-queue.js';

/**
 * Registers every handler of a session. Call it before the first await. No handler awaits: handlers only write the queue.
 */
export function registerSessionHandlers(session: Session): void {
  setHandler(defineSignal<[unknown]>(SESSION_SIGNALS.message.name), (given) => takeMessage(session, given), {
    description: describe.message,
  });
  setHandler(defineUpdate<Receipt, [unknown]>(SESSION_UPDATES.send.name), (given) => takeSend(session, given), {
    description: describe.send,
    validator: (given) => void readSend(session, given),
  });
  setHandler(defineUpdate<unknown, [unknown]>(SESSION_UPDATES.unsend.name), (given) => takeUnsend(session, given), {
    description: describe.unsend,
    validator: (given) => void readUnsend(session, given),
  });
  setHandler(SESSION_HANDLERS.session, () => session.state(), { description: describe.session });
  const eventsOf = (request = { after: 0 }) => ({ executionId: session.executionId, ...session.events.page(request) });
  setHandler(SESSION_HANDLERS.events, eventsOf, { description: describe.events });
}

/** Takes a message without a receipt. One that cannot be read has no text that a run could answer, and is dropped. */
function takeMessage(session: Session, given: unknown): void {
  session.signals += 1;
  const { input, auth } = withoutAuth(given);
  const { value, fault } = readVerb(SESSION_SIGNALS.message, input, 'tolerant');
  const id = value.id ?? `signal-${workflowInfo().runId.slice(0, 8)}-${session.signals}`;
  if (session.queue.hasSeen(id)) return;
  if (fault || session.problem !== undefined) {
    session.queue.refuse(id, fault ? `${fault.code}: ${fault.message}` : (session.problem ?? ''));
    return;
  }
  accept(session, { ...value, id }, { auth, reportsRefusal: true });
}

function takeSend(session: Session, given: unknown): Receipt {
  session.updates += 1;
  const { value, auth } = readSend(session, given);
  const id = value.id ?? `update-${workflowInfo().runId.slice(0, 8)}-${session.updates}`;
  return accept(session, { ...value, id }, { auth, reportsRefusal: false });
}

function takeUnsend(session: Session, given: unknown): { readonly id: string; readonly unsent: true } {
  session.updates += 1;
  const id = readUnsend(session, given);
  session.queue.unsend(id);
  return { id, unsent: true };
}

function readSend(session: Session, given: unknown): { readonly value: SendInput; readonly auth?: unknown } {
  const { input, auth } = withoutAuth(given);
  const { value, fault } = readVerb(SESSION_UPDATES.send, input, 'tolerant');
  if (fault) throw inputFailure(`${fault.code}: ${fault.message}`);
  if (session.problem !== undefined) throw inputFailure(session.problem);
  if (session.isCancelled) throw inputFailure(`SESSION_CLOSED: session ${session.key} was cancelled`);
  return { value, auth };
}

/** The id of a message that waits. Throws when there is none. */
function readUnsend(session: Session, given: unknown): string {
  const { value, fault } = readVerb(SESSION_UPDATES.unsend, given, 'strict');
  if (fault) throw inputFailure(`${fault.code}: ${fault.message}`);
  const { id } = value;
  if (session.queue.waiting.some((message) => message.id === id)) return id;
  const { runs } = session.state();
  const run = runs.find(({ messageIds }) => messageIds.includes(id));
  if (run) throw inputFailure(`MESSAGE_IN_WORK: run ${run.runId} ${run.reason === undefined ? 'works on' : 'answered'} message ${id}`);
  throw inputFailure(`NO_SUCH_MESSAGE: message ${id} does not wait in session ${session.key}; query 'session' lists those that do`);
}

/** How a message came. */
interface Delivery {
  readonly auth: unknown;
  readonly reportsRefusal: boolean;
}

function accept(session: Session, sent: SendInput & { readonly id: string }, { auth, reportsRefusal }: Delivery): Receipt {
  const { rules, queue, events } = session;
  const message = queued(session, sent, auth);
  const passes = session.takesSteers && message.unchecked === undefined && isSteer(message, rules);
  const receipt = queue.accept(message, rules, { reportsRefusal, passes });
  const { id, accepted, position, duplicate } = receipt;
  if (accepted && !duplicate) events.add({ type: 'message.accepted', id, position, mode: modeOf(message, rules) });
  return receipt;
}

/** A message as it waits. Until a session is prepared, nothing tells whether it needs a signature: then it counts as unchecked. */
function queued({ prepared }: Session, sent: SendInput & { readonly id: string }, auth: unknown): QueuedSend {
  const parts = partsOf(sent);
  const isSafe = prepared !== undefined && prepared.signed !== true;
  return {
    id: sent.id,
    parts,
    ...(sent.queue === undefined ? {} : { mode: sent.queue }),
    at: Date.now(),
    size: JSON.stringify(parts).length,
    ...(isSafe ? {} : { unchecked: { content: hashContent(sent), ...(typeof auth === 'string' ? { auth } : {}) } }),
  };
}

/** Splits the signature from an input, whatever it is. */
function withoutAuth(given: unknown): { readonly input: unknown; readonly auth?: unknown } {
  if (typeof given !== 'object' || given === null || !Object.hasOwn(given, 'auth')) return { input: given };
  const { auth, ...input } = given as { readonly auth?: unknown };
  return { input, auth };
}
