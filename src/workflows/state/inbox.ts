import { uuid4 } from '@temporalio/workflow';
import { CONTINUE_AS_NEW_LIMITS } from '../../contracts/constants/limits.js';
import { STEER_MODES } from '../../contracts/constants/steer-modes.js';
import type { CarriedState, QueuedMessage } from '../../contracts/schemas/carried-state.js';
import type { RunPolicy } from '../../contracts/schemas/policy.js';
import type { Receipt, SteerInput, SteerRecord } from '../../contracts/schemas/run.js';
import { type ModelDirective, readDirectives } from '../policies/model/model-directive.js';

/** Who asked for the end, and why. */
export interface CancelRequest {
  readonly source: 'signal' | 'temporal';
  readonly reason: string;
}

/** A message in the queue, with the commands to the run itself at its beginning. */
export interface WaitingMessage extends QueuedMessage {
  readonly directives: readonly ModelDirective[];
}

/** What an execution before this one carried over. */
type CarriedInbox = Pick<CarriedState, 'inbox' | 'seenIds' | 'paused' | 'steers' | 'hold'> & {
  readonly counters: Pick<CarriedState['counters'], 'steers'>;
};

/**
 * What handlers write and the loop reads: the only state that handlers touch. Nothing here awaits.
 * Every message that is accepted ends in exactly one final state of `SteerRecord`. Times are milliseconds since 1970.
 */
export class Inbox {
  readonly #queue: Map<string, WaitingMessage>;
  /** How messages ended, oldest first. */
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
  /** A message wants the running model call to end; says whether there was one. Contract: called in a handler, neither awaits nor throws. */
  onInterrupt: (() => boolean) | undefined;
  /** A message reached its final state. Contract: as for `onInterrupt`. */
  onSettled: ((record: SteerRecord) => void) | undefined;
  /** False for runs that know no mode but `boundary`: they must replay as they ran. */
  heedsModes: () => boolean = () => true;
  /** False for runs of older versions: they send commands to the model as text. */
  followsDirectives: () => boolean = () => false;

  constructor(carried?: CarriedInbox) {
    this.#queue = new Map(carried?.inbox.map((message) => [message.id, { ...message, directives: readDirectives(message.text) }]));
    const seen = carried?.seenIds.map((id): SteerRecord => ({ id, state: 'delivered' })) ?? [];
    this.#settled = new Map([...seen, ...(carried?.steers ?? [])].map((record) => [record.id, record]));
    this.#accepted = carried?.counters.steers ?? 0;
    this.#refused = carried?.steers.filter(({ state }) => state === 'refused').length ?? 0;
    this.paused = carried?.paused ?? false;
    this.hold = carried?.hold;
  }

  /** How many messages wait to be read. */
  get length(): number {
    return this.peek().length;
  }

  /** The messages with commands that the run itself has to follow, in the order acknowledged. */
  get directed(): readonly WaitingMessage[] {
    return this.followsDirectives() ? this.peek().filter(({ directives }) => directives.length > 0) : [];
  }

  /** True while a message waits that the model reads. A message of commands alone ends with the run. */
  get hasUnread(): boolean {
    return this.length > this.directed.filter((message) => textBehind(message) === '').length;
  }

  /** How many messages ever stood in the queue. */
  get accepted(): number {
    return this.#accepted;
  }

  /** True while a message waits for which calls that were not started are skipped. */
  get preempting(): boolean {
    return this.heedsModes() && this.peek().some(isUrgent);
  }

  /** True while a message waits that aborts the running model call. */
  get interrupting(): boolean {
    return this.heedsModes() && this.peek().some(({ mode }) => mode === 'interrupt');
  }

  /** Queues a message unless its id is known. The same text right behind an unread one is merged into it: a double click. */
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
    if (mode === 'interrupt' && this.heedsModes() && this.onInterrupt?.()) this.#keepLast();
    return receipt;
  }

  /** Records an input that holds no message as refused, under an id made here. */
  refuseInput(reason: string): Receipt {
    this.#refused += 1;
    // no client may send such an id, and none of the workflow's random numbers is spent on it
    const id = `refused#${this.#refused}`;
    this.#settle({ id, state: 'refused', reason });
    return { id, accepted: false, position: -1, duplicate: false };
  }

  /**
   * Takes what waits, in the order acknowledged, for `turn` to read; what has expired is not delivered, and what is kept stays. `one`
   * takes the first, and all that stand before a message that could not wait.
   */
  drain(mode: RunPolicy['drain'] = 'all', nowMs = Date.now(), turn?: number): readonly WaitingMessage[] {
    this.#expire(nowMs);
    const followed = this.followsDirectives();
    const waiting = [...this.#queue.values()].filter(({ directives }) => !followed || directives.length === 0);
    const taken = mode === 'all' ? waiting : waiting.slice(0, Math.max(1, waiting.findLastIndex(isUrgent) + 1));
    for (const { id } of taken) {
      this.#queue.delete(id);
      this.#settle({ id, state: 'delivered', ...(turn === undefined ? {} : { turn }) });
    }
    return taken;
  }

  /** A message that waits cannot be followed: it ends as refused. */
  refuse(id: string, reason: string): void {
    if (this.#queue.delete(id)) this.#settle({ id, state: 'refused', reason });
  }

  /** Drops the first command of a waiting message. A message with nothing left has been delivered to `turn`. */
  dropDirective(id: string, turn: number): 'waits' | 'settled' {
    const message = this.#queue.get(id);
    const [first, ...directives] = message?.directives ?? [];
    return this.#keepRest(message, { text: first?.rest ?? '', directives }, turn);
  }

  /** Before a request with which the run ends, commands come too late: only the text behind them is left to be read. */
  dropDirectives(turn: number): void {
    for (const message of this.directed) {
      const text = textBehind(message);
      if (text !== '') this.#keepRest(message, { text, directives: [] }, turn);
    }
  }

  /** What still waits, without taking it; of a closed run what nobody read. */
  peek(nowMs = Date.now()): readonly WaitingMessage[] {
    const waiting = [...this.#queue.values()];
    return this.#closed ? waiting : waiting.filter((message) => !isExpired(message, nowMs));
  }

  /** The end of the run: what still waits is unconsumed. */
  closeAll(nowMs = Date.now()): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#expire(nowMs);
    for (const id of this.#queue.keys()) this.#settle({ id, state: 'unconsumed' });
  }

  /** What became of each message that is remembered, in the order in which they ended; those that wait come last. */
  records(): SteerRecord[] {
    const waiting = this.#closed ? [] : this.peek();
    return [...this.#settled.values(), ...waiting.map(({ id }): SteerRecord => ({ id, state: 'queued' }))];
  }

  requestCancel(request: CancelRequest): void {
    this.cancelRequest ??= request;
  }

  /** What continue-as-new carries. The ids that are known are those of `steers`. */
  carry(): Pick<CarriedState, 'inbox' | 'seenIds' | 'paused' | 'steers' | 'hold'> {
    return {
      inbox: [...this.#queue.values()].map(queued),
      seenIds: [],
      paused: this.paused,
      steers: [...this.#settled.values()],
      ...(this.hold ? { hold: this.hold } : {}),
    };
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

  /** What a model call was aborted for is read, however long the call takes to end. */
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

/** The text of a message behind all its commands. */
function textBehind({ text, directives }: WaitingMessage): string {
  return directives.at(-1)?.rest ?? text;
}

function isUrgent({ mode }: QueuedMessage): boolean {
  return mode === 'preempt' || mode === 'interrupt';
}

function isExpired({ expiresAt }: QueuedMessage, nowMs: number): boolean {
  return expiresAt !== undefined && expiresAt <= nowMs;
}

/** The same message sent twice as one: under the first one's id, as urgent as the more urgent, and unread for as long as the longer. */
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
