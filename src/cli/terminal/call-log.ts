import type { RunEvent } from '../../contracts/event.js';
import { textOf, toolCallsOf } from '../../contracts/message-text.js';
import type { Message, ToolCallPart, ToolResultPart } from '../../contracts/schemas/message.js';
import { formatDuration } from '../display/format.js';
import { terminalLine } from '../display/terminal-text.js';
import { type Line, plainLine, type Span } from './styled-text.js';
import { callLine, type ShownCall, toolLines } from './tool-lines.js';

type CallEvent = Extract<RunEvent, { type: 'tool.call' }>;
type OpenCall = ShownCall & { readonly event: CallEvent };

/** Messages that wait for their events. Older ones belong to turns that are shown already. */
const MESSAGES_MAX = 200;
/** Calls that are listed while they run. */
const OPEN_CALLS_MAX = 6;

/** The calls of the current turn, with the answers, arguments and results that the transcript has of them. */
export class CallLog {
  readonly #open = new Map<string, OpenCall>();
  readonly #answers: Message[] = [];
  readonly #calls = new Map<string, ToolCallPart>();
  readonly #results = new Map<string, ToolResultPart>();

  /** Takes messages of the transcript. They may come before or after the events of their calls. */
  learn(messages: readonly Message[]): void {
    for (const message of messages) {
      if (message.role === 'assistant') this.#answers.push(message);
      for (const call of toolCallsOf(message)) this.#calls.set(call.callId, call);
      for (const part of message.parts) if (part.type === 'tool_result') this.#results.set(part.callId, part);
    }
    this.#answers.splice(0, this.#answers.length - MESSAGES_MAX);
    for (const kept of [this.#calls, this.#results]) for (const id of [...kept.keys()].slice(0, -MESSAGES_MAX)) kept.delete(id);
  }

  /** The text of the first answer of a turn, or undefined if the transcript was not read. */
  takeAnswer(turn: number): string | undefined {
    const at = this.#answers.findIndex((message) => message.turn === turn);
    const [message] = at === -1 ? [] : this.#answers.splice(0, at + 1).slice(-1);
    return message && textOf(message);
  }

  /** The arguments of a call. Undefined if the transcript was not read. */
  callOf(callId: string): ToolCallPart | undefined {
    return this.#calls.get(callId);
  }

  /** True while calls are open. */
  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  /** True while a call runs. */
  get isRunning(): boolean {
    return [...this.#open.values()].some(({ ended }) => !ended);
  }

  start(event: CallEvent): void {
    this.#open.set(event.callId, { event });
  }

  end(event: Extract<RunEvent, { type: 'tool.result' }>): void {
    const call = this.#open.get(event.callId);
    if (call) this.#open.set(event.callId, { ...call, ended: event });
  }

  /** Ends the turn. Returns the lines of its calls, in their order. */
  take(): Line[] {
    const lines = [...this.#open.values()].flatMap((open) => {
      const { callId } = open.event;
      const result = this.#results.get(callId);
      this.#results.delete(callId);
      return toolLines({ ...open, call: this.#calls.get(callId), result });
    });
    this.#open.clear();
    return lines;
  }

  /** The calls at work, one line each, and those that ended in this turn. */
  openLines(now: number, progress: string | undefined): Line[] {
    const calls = [...this.#open.values()];
    const running = calls.filter(({ ended }) => !ended);
    const lines = calls.slice(-OPEN_CALLS_MAX).map(({ event, ended }): Line => {
      const time = formatDuration(ended?.durationMs ?? Math.max(0, now - event.at));
      const end: Span = ended ? { text: `  ${ended.outcome}, ${time}`, styles: ['dim'] } : { text: `  ${time}`, styles: ['accent'] };
      return [...callLine(event, this.#calls.get(event.callId)).slice(0, 2), end];
    });
    const more = calls.length - lines.length;
    return [
      ...(more > 0 ? [plainLine(`  ${more} more calls`, 'dim')] : []),
      ...lines,
      ...(progress !== undefined && running.length > 0 ? [plainLine(`  ${terminalLine(progress)}`, 'dim')] : []),
    ];
  }
}
