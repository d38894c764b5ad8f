import type { WatchItem } from '../../client/watch/watch-run.js';
import type { RunEvent } from '../../contracts/event.js';
import type { Message, ToolCallPart } from '../../contracts/schemas/message.js';
import type { Progress, RunResult } from '../../contracts/schemas/run.js';
import { eventLine } from '../display/event-line.js';
import type { Output } from '../display/output.js';
import type { RunDisplay } from '../display/run-display.js';
import { progressAfter, statusLine } from '../display/status-line.js';
import { terminalLine } from '../display/terminal-text.js';
import { AnswerView } from './answer-view.js';
import { CallLog } from './call-log.js';
import { inputRow, type TypedLine } from './input-row.js';
import { LiveRegion } from './live-region.js';
import { wantsColour } from './paint-line.js';
import { clipLine, type Line, plainLine, type Style } from './styled-text.js';
import { TurnOrder } from './turn-order.js';

/** What a person is asked, and the text that is typed. */
export interface Prompt extends TypedLine {
  /** The question, with the keys that answer it. */
  readonly lines: readonly Line[];
}

const TICK_MS = 120;
/** Changes within this time are written together. */
const WRITE_MS = 16;
const SPINNER = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const EMPTY: Line = [];

/** Events that say nothing about the answer that streams. */
const BESIDE_ANSWER: ReadonlySet<RunEvent['type']> = new Set([
  'steer.accepted',
  'steer.merged',
  'steer.refused',
  'steer.expired',
  'held',
  'released',
  'paused',
  'resumed',
  'extended',
  'cancel.requested',
  'notice',
  'subagent.ended',
]);

const EVENT_STYLES: Partial<Record<RunEvent['type'], Style>> = {
  'model.failed': 'error',
  'tool.blocked': 'warning',
  'approval.asked': 'warning',
  'question.asked': 'warning',
  'worker.lost': 'warning',
  'budget.reached': 'warning',
};

/**
 * Shows a run on a terminal: the answers as Markdown under their turns, tool calls with arguments, diffs and short results, and at the
 * bottom the rows that change: running calls, a prompt, and the status with the time and the tokens.
 */
export class LiveDisplay implements RunDisplay {
  readonly #region: LiveRegion;
  readonly #order = new TurnOrder();
  readonly #answer: AnswerView;
  readonly #calls = new CallLog();
  readonly #startedAt = Date.now();
  readonly #ticker: NodeJS.Timeout;
  readonly #onResize = (): void => this.flush();
  readonly #onExit = (): void => this.end();
  #staying: Line[] = [];
  #deferred: Line[] = [];
  readonly #onShown: (() => void)[] = [];
  readonly #onDeferredShown: (() => void)[] = [];
  #isSuspended = false;
  #progress: Progress | undefined;
  #callProgress: string | undefined;
  #prompt: Prompt | undefined;
  #writing: NodeJS.Timeout | undefined;
  #ticks = 0;
  #hasEnded = false;

  constructor(output: Pick<Output, 'stderr'>, env: NodeJS.ProcessEnv = process.env) {
    this.#region = new LiveRegion(output.stderr, wantsColour(env));
    this.#answer = new AnswerView(() => this.#region.columns);
    this.#ticker = setInterval(() => {
      this.#ticks += 1;
      if (this.#progress) this.flush();
    }, TICK_MS).unref();
    process.on('SIGWINCH', this.#onResize);
    // an immediate end leaves a whole line and a visible cursor
    process.once('exit', this.#onExit);
  }

  wantsMessages(item: WatchItem): boolean {
    if (item.type === 'result') return this.#calls.isOpen;
    if (item.type !== 'event') return false;
    return item.event.type === 'model.completed' || (item.event.type === 'turn.ended' && this.#calls.isOpen);
  }

  learn(messages: readonly Message[]): void {
    this.#calls.learn(messages);
  }

  show(item: WatchItem): void {
    if (item.type === 'notice') this.say(`${item.code}: ${item.message}`);
    if (item.type === 'progress') this.#progress = item.progress;
    for (const placed of this.#order.take(item)) {
      if (placed.type === 'stream') this.#print(this.#answer.take(placed.event));
      else this.#showEvent(placed.event);
    }
    if (item.type === 'result') this.#showResult(item.result);
    this.#writeSoon();
  }

  say(line: string): void {
    this.print([plainLine(terminalLine(line), 'dim')]);
  }

  /**
   * Prints lines that stay. While an answer streams, they are shown below it, as far as they fit, and stay when it ends: they do not break a
   * paragraph. `onShown` is called once all of them are on the terminal.
   */
  print(lines: readonly Line[], onShown?: () => void): void {
    const isDeferred = this.#answer.isOpen;
    if (isDeferred) this.#deferred.push(...lines);
    else this.#print(lines);
    if (onShown) (isDeferred ? this.#onDeferredShown : this.#onShown).push(onShown);
    this.#writeSoon();
  }

  /** Shows a prompt below the status, or removes it. */
  setPrompt(prompt: Prompt | undefined): void {
    this.#prompt = prompt;
    this.#writeSoon();
  }

  /** Shows what a running call reports. */
  setCallProgress(text: string | undefined): void {
    this.#callProgress = text;
    this.#writeSoon();
  }

  /** True while a call runs. */
  get isCalling(): boolean {
    return this.#calls.isRunning;
  }

  /** The columns that a line may have. */
  get columns(): number {
    return this.#region.columns;
  }

  /** The arguments of a call. */
  callOf(callId: string): ToolCallPart | undefined {
    return this.#calls.callOf(callId);
  }

  end(): void {
    clearInterval(this.#ticker);
    process.off('SIGWINCH', this.#onResize);
    process.off('exit', this.#onExit);
    this.#print(this.#endTurn());
    this.#progress = undefined;
    this.#prompt = undefined;
    this.flush();
    this.#hasEnded = true;
  }

  hasShown(text: string): boolean {
    return this.#answer.hasShown(text);
  }

  /** Leaves the terminal to the shell, without a row that would be replaced. */
  suspend(): void {
    this.#region.clear();
    this.#isSuspended = true;
  }

  /** Shows the rows again, below what the shell wrote. */
  resume(): void {
    this.#isSuspended = false;
    this.flush();
  }

  /** Writes all changes. */
  flush(): void {
    clearTimeout(this.#writing);
    this.#writing = undefined;
    if (this.#isSuspended) return;
    this.#region.write(this.#staying.splice(0), this.#liveRows());
    for (const onShown of this.#onShown.splice(0)) onShown();
  }

  #showEvent(event: RunEvent): void {
    this.#progress &&= progressAfter(this.#progress, event);
    if (event.type === 'tool.call') return this.#startCall(event);
    if (event.type === 'tool.result') return this.#calls.end(event);
    if (BESIDE_ANSWER.has(event.type)) return this.print(linesOf(event));
    this.#print(this.#linesAt(event));
  }

  /** The lines that stay from an event on. */
  #linesAt(event: RunEvent): Line[] {
    if (event.type === 'turn.started') return [...this.#endTurn(), EMPTY, plainLine(`turn ${event.turn}`, 'dim')];
    if (event.type === 'turn.ended') return this.#endTurn();
    if (event.type === 'model.completed') return this.#endAnswer(this.#wholeAnswer(event.turn));
    return [...this.#endAnswer(), ...linesOf(event)];
  }

  #startCall(event: Extract<RunEvent, { type: 'tool.call' }>): void {
    this.#callProgress = undefined;
    this.#calls.start(event);
  }

  #wholeAnswer(turn: number): { turn: number; text: string } | undefined {
    const text = this.#calls.takeAnswer(turn);
    return text === undefined ? undefined : { turn, text };
  }

  #endAnswer(whole?: { readonly turn: number; readonly text: string }): Line[] {
    this.#onShown.push(...this.#onDeferredShown.splice(0));
    return [...this.#answer.complete(whole), ...this.#deferred.splice(0)];
  }

  #endTurn(): Line[] {
    return [...this.#endAnswer(), ...this.#calls.take()];
  }

  #showResult({ output }: RunResult): void {
    this.#print(this.#endTurn());
    if (output.trim() !== '' && !this.#answer.hasShown(output)) this.#print([EMPTY, ...this.#answer.whole(output)]);
    // separates the answer from the lines about the run
    this.#print([EMPTY]);
  }

  #print(lines: readonly Line[]): void {
    this.#staying.push(...lines);
    if (this.#hasEnded) this.flush();
    else this.#writeSoon();
  }

  #writeSoon(): void {
    if (!this.#hasEnded) this.#writing ??= setTimeout(() => this.flush(), WRITE_MS);
  }

  #liveRows(): { lines: Line[]; cursorBehind?: string } {
    const { columns, rows } = this.#region;
    const prompt = this.#prompt;
    const below = [...(prompt?.lines ?? []), ...this.#statusRows(columns)].map((line) => clipLine(line, columns));
    const calls = this.#calls.openLines(Date.now(), this.#callProgress);
    const input = prompt && inputRow(prompt, columns);
    const room = Math.max(0, rows - below.length - (input ? 1 : 0));
    const above = room === 0 ? [] : [...this.#answer.openLines(), ...this.#deferred, ...calls].slice(-room);
    const lines = [...above, ...below, ...(input ? [input.line] : [])];
    return { lines, ...(input ? { cursorBehind: input.before } : {}) };
  }

  #statusRows(columns: number): Line[] {
    if (!this.#progress) return [];
    const isBusy = this.#progress.status === 'running';
    const mark = isBusy ? (SPINNER[this.#ticks % SPINNER.length] ?? '') : '◦';
    const text = statusLine({ progress: this.#progress, elapsedMs: Date.now() - this.#startedAt, columns: columns - 2 });
    return [
      [
        { text: `${mark} `, styles: ['accent'] },
        { text, styles: ['dim'] },
      ],
    ];
  }
}

function linesOf(event: RunEvent): Line[] {
  const text = eventLine(event);
  return text === undefined ? [] : [plainLine(text, EVENT_STYLES[event.type] ?? 'dim')];
}
