import { uuid4 } from '@temporalio/workflow';
import { STEER_LIMITS } from '../../contracts/constants/limits.js';
import type { CarriedState, QueuedMessage } from '../../contracts/schemas/carried-state.js';
import type { PageRequest, UnreadMessage, UnreadPage } from '../../contracts/schemas/page.js';
import type { RunPolicy } from '../../contracts/schemas/policy.js';
import type { Receipt, SteerInput, SteerRecord } from '../../contracts/schemas/run.js';
import { limitDirectives, readDirectives } from '../policies/model/model-directive.js';
import { pageOf } from '../policies/transcript/page.js';
import { DeliveryRecords, INBOX_FULL } from './delivery-records.js';
import { isExpired, isUrgent, MessageQueue, mergeMessages, type WaitingMessage } from './message-queue.js';

/** The source and the reason of a cancel. */
export interface CancelRequest {
  readonly source: 'signal' | 'temporal';
  readonly reason: string;
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
  readonly #queue: MessageQueue;
  readonly #settled: DeliveryRecords;
  #accepted: number;
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
  /** False for runs of older versions, which queue every message, and before a run is prepared. */
  limitsInbox: () => boolean = () => false;

  constructor(carried?: CarriedInbox) {
    this.#queue = new MessageQueue(carried?.inbox.map((message) => ({ ...message, directives: readDirectives(message.text) })));
    const seen = carried?.seenIds.map((id): SteerRecord => ({ id, state: 'delivered' })) ?? [];
    this.#settled = new DeliveryRecords([...seen, ...(carried?.steers ?? [])]);
    this.#accepted = carried?.counters.steers ?? 0;
    this.paused = carried?.paused ?? false;
    this.hold = carried?.hold;
  }

  /** The number of queued messages. */
  get length(): number {
    return this.#closed || !this.#queue.mayExpire(Date.now()) ? this.#queue.size : this.peek().length;
  }

  /** True when messages are refused for want of room. */
  get isFull(): boolean {
    return this.limitsInbox() && !this.#hasRoom(1);
  }

  /** The queued messages with commands to apply, in the order in which they were accepted. */
  get directed(): readonly WaitingMessage[] {
    const mayHave = this.#queue.hasDirected && this.appliesDirectives();
    return mayHave ? this.peek().filter(({ directives }) => directives.length > 0) : [];
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
    return this.#hasUrgent(isUrgent);
  }

  /** True while a queued message aborts the running model call. */
  get interrupting(): boolean {
    return this.#hasUrgent(({ mode }) => mode === 'interrupt');
  }

  /**
   * Queues a message unless its id is known. A repeat of the last queued text is merged into it, as after a double click. A full inbox
   * refuses the message; it may be sent again under the same id.
   */
  enqueue({ id = uuid4(), text, mode, ttlMs }: SteerInput, nowMs = Date.now()): Receipt {
    this.#expire(nowMs);
    if (this.#queue.has(id) || this.#settled.has(id)) return { id, accepted: true, position: this.#queue.positionOf(id), duplicate: true };
    if (this.limitsInbox() && !this.#takes(text)) return this.#refuseNew(id, NO_ROOM);
    this.#settled.accept(id);
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

  /** Why the inbox cannot queue a message now; undefined when it can, or has it already. For senders that wait for an answer. */
  refusalOf({ id, text }: SteerInput): string | undefined {
    const isKnown = id !== undefined && (this.#queue.has(id) || this.#settled.has(id));
    return isKnown || this.#takes(text) ? undefined : NO_ROOM;
  }

  /** Refuses the newest messages of an inbox that filled up before the run was prepared, and with it the limit known. */
  refuseOverflow(): void {
    if (!this.limitsInbox()) return;
    for (const { id } of this.#queue.beyond({ messages: STEER_LIMITS.unreadMax, chars: STEER_LIMITS.unreadCharsMax })) {
      this.#queue.delete(id);
      this.#refuseNew(id, NO_ROOM);
    }
  }

  /** Records an invalid input as refused, under a generated id. */
  refuseInput(reason: string): Receipt {
    return this.#refuseNew(this.#settled.newId(), reason);
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
    const waiting = this.#queue.get(id);
    const message = waiting && this.#limited(waiting);
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
    return this.#closed || !this.#queue.mayExpire(nowMs) ? waiting : waiting.filter((message) => !isExpired(message, nowMs));
  }

  /** One page for query `unread`. A large message comes in parts. */
  page(request: Partial<PageRequest>): UnreadPage {
    const waiting = this.peek().map(({ id, text, mode }): UnreadMessage => ({ id, text, ...(mode === undefined ? {} : { mode }) }));
    const { entries: messages, ...page } = pageOf(waiting, { from: 0, offset: 0, ...request });
    return { ...page, length: waiting.length, messages };
  }

  /** Ends the run's queue: the messages in it are unconsumed. */
  closeAll(nowMs = Date.now()): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#expire(nowMs);
    for (const { id } of this.#queue.values()) this.#settle({ id, state: 'unconsumed' });
  }

  /** The states of the remembered messages, in the order in which they ended; queued messages come last. */
  records(): SteerRecord[] {
    const waiting = this.#closed ? [] : this.peek();
    return [...this.#settled.list(), ...waiting.map(({ id }): SteerRecord => ({ id, state: 'queued' }))];
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
      steers: this.#settled.list(),
      ...(this.hold ? { hold: this.hold } : {}),
    };
  }

  /** Looks for an unread message without copying the queue: waits ask again after each message that comes in. */
  #hasUrgent(isMeant: (message: WaitingMessage) => boolean): boolean {
    if (!this.#queue.hasUrgent || !this.supportsModes()) return false;
    const nowMs = Date.now();
    for (const message of this.#queue.values()) if (isMeant(message) && (this.#closed || !isExpired(message, nowMs))) return true;
    return false;
  }

  #messages(): WaitingMessage[] {
    return Array.from(this.#queue.values(), (message) => this.#limited(message));
  }

  #limited(message: WaitingMessage): WaitingMessage {
    if (message.directives.length === 0 || !this.limitsDirectives()) return message;
    return { ...message, directives: limitDirectives(message.directives) };
  }

  /** True when a message with this text needs no room, or there is room for it. */
  #takes(text: string): boolean {
    return this.#queue.last?.text === text || this.#hasRoom(text.length);
  }

  #hasRoom(chars: number): boolean {
    return this.#queue.size < STEER_LIMITS.unreadMax && this.#queue.chars + chars <= STEER_LIMITS.unreadCharsMax;
  }

  #refuseNew(id: string, reason: string): Receipt {
    const record = this.#settled.refuse(id, reason);
    if (record) this.onSettled?.(record);
    return { id, accepted: false, position: -1, duplicate: false };
  }

  #keepRest(message: WaitingMessage | undefined, rest: Pick<WaitingMessage, 'text' | 'directives'>, turn: number): 'waits' | 'settled' {
    if (message && rest.text !== '') {
      this.#queue.set({ ...message, ...rest });
      return 'waits';
    }
    if (message && this.#queue.delete(message.id)) this.#settle({ id: message.id, state: 'delivered', turn });
    return 'settled';
  }

  #place(message: WaitingMessage): Receipt {
    const { id } = message;
    const { last } = this.#queue;
    if (last?.text === message.text) {
      this.#queue.set(mergeMessages(last, message));
      this.#settle({ id, state: 'merged', into: last.id });
      return { id, accepted: true, position: this.#queue.size - 1, duplicate: true };
    }
    this.#queue.set(message);
    this.#accepted += 1;
    return { id, accepted: true, position: this.#queue.size - 1, duplicate: false };
  }

  /** Removes the expiry of a message that aborted a model call: it is delivered, however long the call takes to end. */
  #keepLast(): void {
    const { last } = this.#queue;
    if (last?.expiresAt === undefined) return;
    const { expiresAt: _, ...message } = last;
    this.#queue.set(message);
  }

  #expire(nowMs: number): void {
    for (const { id } of this.#queue.takeExpired(nowMs)) this.#settle({ id, state: 'expired' });
  }

  #settle(record: SteerRecord): void {
    this.#settled.add(record);
    this.onSettled?.(record);
  }
}

const NO_ROOM = `${INBOX_FULL}: ${STEER_LIMITS.unreadMax} messages or ${STEER_LIMITS.unreadCharsMax} characters are unread; send it again later`;

function queued({ id, text, mode, expiresAt }: WaitingMessage): QueuedMessage {
  return { id, text, ...(mode === undefined ? {} : { mode }), ...(expiresAt === undefined ? {} : { expiresAt }) };
}

/** The text of a message after its commands. */
function textBehind({ text, directives }: WaitingMessage): string {
  return directives.at(-1)?.rest ?? text;
}
