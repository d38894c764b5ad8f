import { uuid4 } from '@temporalio/workflow';
import { CONTINUE_AS_NEW_LIMITS } from '../../contracts/constants/limits.js';
import { STEER_MODES } from '../../contracts/constants/steer-modes.js';
import type { CarriedState, QueuedMessage } from '../../contracts/schemas/carried-state.js';
import type { RunPolicy } from '../../contracts/schemas/policy.js';
import type { Receipt, SteerInput, SteerRecord } from '../../contracts/schemas/run.js';
import { limitDirectives, type ModelDirective, readDirectives } from '../policies/model/model-directive.js';

/** The source and the reason of a cancel. */
export interface CancelRequest {
  readonly source: 'signal' | 'temporal';
  readonly reason: string;
}

/** A queued message with the commands at its beginning. */
export interface WaitingMessage extends QueuedMessage {
  readonly directives: readonly ModelDirective[];
}

/** The state that an earlier execution carried over. */
type CarriedInbox = Pick<CarriedState, 'inbox' | 'seenIds' | 'paused' | 'steers' | 'hold'> & {
  readonly counters: Pick<CarriedState['counters'], 'steers'>;
};

/**
 * The inbox of a run: handlers write it and the loop reads it. Nothing here awaits.
 * Every accepted message ends in exactly one final state of `SteerRecord`. Times are milliseconds since 1970.
 */
export class Inbox {
  readonly #queue: Map<string, WaitingMessage>;
  /** The final states of messages, oldest first. */
  readonly #settled: Map<string, SteerRecord>;
  #accepted: number;
  #refused: number;
  #closed = false;
  cancelRequest: CancelRequest | undefined;
  paused: boolean;
  /** A live conversation holds the run between turns. */
  hold: CarriedState['hold'];
  signals = 0;
  updates = 0;
  /**
   * Aborts the running model call for a message; returns false when none runs. Contract: called in a handler, neither awaits nor throws.
   */
  onInterrupt: (() => boolean) | undefined;
  /** Called when a message reached its final state. Contract: as for `onInterrupt`. */
  onSettled: ((record: SteerRecord) => void) | undefined;
  /** False for runs of older versions, in which every message has mode `boundary`: they must replay as they ran. */
  supportsModes: () => boolean = () => true;
  /** False for runs of older versions, which send commands to the model as text: they must replay as they ran. */
  appliesDirectives: () => boolean = () => false;
  /** False for runs of older versions, which apply every command of a message. */
  limitsDirectives: () => boolean = () => false;

  constructor(carried?: CarriedInbox) {
    this.#queue = new Map(carried?.inbox.map((message) => [message.id, { ...message, directives: readDirectives(message.text) }]));
    const seen = carried?.seenIds.map((id): SteerRecord => ({ id, state: 'delivered' })) ?? [];
    this.#settled = new Map([...seen, ...(carried?.steers ?? [])].map((record) => [record.id, record]));
    this.#accepted = carried?.counters.steers ?? 0;
    this.#refused = carried?.steers.filter(({ state }) => state === 'refused').length ?? 0;
    this.paused = carried?.paused ?? false;
    this.hold = carried?.hold;
  }

  /** The number of queued messages. */
  get length(): number {
    return this.peek().length;
  }

  /** The queued messages with commands to apply, in the order in which they were accepted. */
  get directed(): readonly WaitingMessage[] {
    return this.appliesDirectives() ? this.peek().filter(({ directives }) => directives.length > 0) : [];
  }

  /** True while a message with text for the model is queued. Messages with commands only do not count. */
  get hasUnread(): boolean {
    return this.length > this.directed.filter((message) => textBehind(message) === '').length;
  }

  /** The number of messages that were ever queued. */
  get accepted(): number {
    return this.#accepted;
  }

  /** True while a queued message skips the tool calls that were not started. */
  get preempting(): boolean {
    return this.supportsModes() && this.peek().some(isUrgent);
  }

  /** True while a queued message aborts the running model call. */
  get interrupting(): boolean {
    return this.supportsModes() && this.peek().some(({ mode }) => mode === 'interrupt');
  }

  /** Queues a message unless its id is known. A repeat of the last queued text is merged into it, as after a double click. */
  enqueue({ id = uuid4(), text, mode, ttlMs }: SteerInput, nowMs = Date.now()): Receipt {
    this.#expire(nowMs);
    if (this.#queue.has(id) || this.#settled.has(id)) return { id, accepted: true, position: this.#positionOf(id), duplicate: true };
    const receipt = this.#place({
      id,
      text,
      directives: readDirectives(text),
      ...(mode ? { mode } : {}),
      ...(ttlMs === undefined ? {} : { expiresAt: nowMs + ttlMs }),
    });
    if (mode === 'interrupt' && this.supportsModes() && this.onInterrupt?.()) this.#keepLast();
    return receipt;
  }

  /** Records an invalid input as refused, under a generated id. */
  refuseInput(reason: string): Receipt {
    this.#refused += 1;
    // clients cannot send such an id, and it uses none of the workflow's random numbers, which replay must repeat
    const id = `refused#${this.#refused}`;
    this.#settle({ id, state: 'refused', reason });
    return { id, accepted: false, position: -1, duplicate: false };
  }

  /**
   * Takes queued messages for `turn`, in the order in which they were accepted. Expired messages and messages with commands are not taken.
   * Mode `one` takes the first message, or all messages up to the last urgent one.
   */
  drain(mode: RunPolicy['drain'] = 'all', nowMs = Date.now(), turn?: number): readonly WaitingMessage[] {
    this.#expire(nowMs);
    const followed = this.appliesDirectives();
    const waiting = this.#messages().filter(({ directives }) => !followed || directives.length === 0);
    const taken = mode === 'all' ? waiting : waiting.slice(0, Math.max(1, waiting.findLastIndex(isUrgent) + 1));
    for (const { id } of taken) {
      this.#queue.delete(id);
      this.#settle({ id, state: 'delivered', ...(turn === undefined ? {} : { turn }) });
    }
    return taken;
  }

  /** Ends a queued message as refused, because its command cannot be applied. */
  refuse(id: string, reason: string): void {
    if (this.#queue.delete(id)) this.#settle({ id, state: 'refused', reason });
  }

  /** Drops the first command of a queued message. A message without further text counts as delivered to `turn`. */
  dropDirective(id: string, turn: number): 'waits' | 'settled' {
    const message = this.#messages().find((waiting) => waiting.id === id);
    const [first, ...directives] = message?.directives ?? [];
    return this.#keepRest(message, { text: first?.rest ?? '', directives }, turn);
  }

  /** Drops all commands before the final request of a run, when they come too late. Their text stays queued. */
  dropDirectives(turn: number): void {
    for (const message of this.directed) {
      const text = textBehind(message);
      if (text !== '') this.#keepRest(message, { text, directives: [] }, turn);
    }
  }

  /** The queued messages, without taking them; for a closed run, the unconsumed ones. */
  peek(nowMs = Date.now()): readonly WaitingMessage[] {
    const waiting = this.#messages();
    return this.#closed ? waiting : waiting.filter((message) => !isExpired(message, nowMs));
  }

  /** Ends the run's queue: the messages in it are unconsumed. */
  closeAll(nowMs = Date.now()): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#expire(nowMs);
    for (const id of this.#queue.keys()) this.#settle({ id, state: 'unconsumed' });
  }

  /** The states of the remembered messages, in the order in which they ended; queued messages come last. */
  records(): SteerRecord[] {
    const waiting = this.#closed ? [] : this.peek();
    return [...this.#settled.values(), ...waiting.map(({ id }): SteerRecord => ({ id, state: 'queued' }))];
  }

  requestCancel(request: CancelRequest): void {
    this.cancelRequest ??= request;
  }

  /** The state that continue-as-new carries over. The known ids are those of `steers`. */
  carry(): Pick<CarriedState, 'inbox' | 'seenIds' | 'paused' | 'steers' | 'hold'> {
    return {
      inbox: [...this.#queue.values()].map(queued),
      seenIds: [],
      paused: this.paused,
      steers: [...this.#settled.values()],
      ...(this.hold ? { hold: this.hold } : {}),
    };
  }

  #messages(): WaitingMessage[] {
    const limits = this.limitsDirectives();
    return Array.from(this.#queue.values(), (message) =>
      limits && message.directives.length > 0 ? { ...message, directives: limitDirectives(message.directives) } : message,
    );
  }

  #keepRest(message: WaitingMessage | undefined, rest: Pick<WaitingMessage, 'text' | 'directives'>, turn: number): 'waits' | 'settled' {
    if (message && rest.text !== '') {
      this.#queue.set(message.id, { ...message, ...rest });
      return 'waits';
    }
    if (message && this.#queue.delete(message.id)) this.#settle({ id: message.id, state: 'delivered', turn });
    return 'settled';
  }

  #place(message: WaitingMessage): Receipt {
    const { id } = message;
    const last = [...this.#queue.values()].at(-1);
    if (last?.text === message.text) {
      this.#queue.set(last.id, mergeMessages(last, message));
      this.#settle({ id, state: 'merged', into: last.id });
      return { id, accepted: true, position: this.#queue.size - 1, duplicate: true };
    }
    this.#queue.set(id, message);
    this.#accepted += 1;
    return { id, accepted: true, position: this.#queue.size - 1, duplicate: false };
  }

  /** Removes the expiry of a message that aborted a model call: it is delivered, however long the call takes to end. */
  #keepLast(): void {
    const last = [...this.#queue.values()].at(-1);
    if (last?.expiresAt === undefined) return;
    const { expiresAt: _, ...message } = last;
    this.#queue.set(message.id, message);
  }

  #expire(nowMs: number): void {
    for (const message of this.#queue.values()) {
      if (!isExpired(message, nowMs)) continue;
      this.#queue.delete(message.id);
      this.#settle({ id: message.id, state: 'expired' });
    }
  }

  #settle(record: SteerRecord): void {
    this.#settled.set(record.id, record);
    if (this.#settled.size > CONTINUE_AS_NEW_LIMITS.seenIdsMax) {
      const [oldest] = this.#settled.keys();
      if (oldest !== undefined) this.#settled.delete(oldest);
    }
    this.onSettled?.(record);
  }

  #positionOf(id: string): number {
    return [...this.#queue.keys()].indexOf(id);
  }
}

function queued({ id, text, mode, expiresAt }: WaitingMessage): QueuedMessage {
  return { id, text, ...(mode === undefined ? {} : { mode }), ...(expiresAt === undefined ? {} : { expiresAt }) };
}

/** The text of a message after its commands. */
function textBehind({ text, directives }: WaitingMessage): string {
  return directives.at(-1)?.rest ?? text;
}

function isUrgent({ mode }: QueuedMessage): boolean {
  return mode === 'preempt' || mode === 'interrupt';
}

function isExpired({ expiresAt }: QueuedMessage, nowMs: number): boolean {
  return expiresAt !== undefined && expiresAt <= nowMs;
}

/** Merges two equal messages: the first id, the more urgent mode, and the later expiry. */
function mergeMessages(first: WaitingMessage, second: WaitingMessage): WaitingMessage {
  const urgency = Math.max(urgencyOf(first), urgencyOf(second));
  const mode = STEER_MODES[urgency];
  const { id, text, directives } = first;
  const expiresAt = Math.max(first.expiresAt ?? NEVER, second.expiresAt ?? NEVER);
  return { id, text, directives, ...(mode === undefined ? {} : { mode }), ...(expiresAt === NEVER ? {} : { expiresAt }) };
}

const NEVER = Number.POSITIVE_INFINITY;

/** The modes are listed in the order of their urgency. */
function urgencyOf({ mode = 'boundary' }: QueuedMessage): number {
  return STEER_MODES.indexOf(mode);
}
