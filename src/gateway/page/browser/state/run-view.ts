import type { RunEvent } from '../../../../contracts/event.js';
import type { Message } from '../../../../contracts/schemas/message.js';
import type { RunResult } from '../../../../contracts/schemas/run.js';

/** What the events of a run say about a call. The transcript has its arguments and its output. */
export interface CallFacts {
  readonly title?: string;
  readonly state: CallState;
  readonly durationMs?: number;
  /** Why it was blocked or denied, or which earlier result it got. */
  readonly note?: string;
  /** The run of the sub-agent that the call started. */
  readonly childRunId?: string;
}

/** `asking` waits for approval. `unknown`: its worker was lost, and it may have taken effect. */
export type CallState = 'waiting' | 'asking' | 'running' | 'ok' | 'failed' | 'denied' | 'unknown';

/** An answer that arrives: what its tokens gave so far. */
export interface LiveAnswer {
  readonly turn: number;
  readonly isFinal: boolean;
  readonly text: string;
  readonly thinking: string;
}

/** A line about the run itself, such as a change of model. */
export interface Note {
  /** Unique in the run. */
  readonly key: string;
  readonly turn: number;
  readonly text: string;
  readonly isProblem: boolean;
}

/** A run as the page knows it: never changed, always replaced. */
export interface RunView {
  readonly runId: string;
  /** The run's own part of the transcript, from its task on. Messages that a compaction removed stay. */
  readonly messages: readonly Message[];
  /** By `answerKey`. */
  readonly live: ReadonlyMap<string, LiveAnswer>;
  /** By id of the call. */
  readonly calls: ReadonlyMap<string, CallFacts>;
  readonly notes: readonly Note[];
  /** Ids of messages that wait for delivery. */
  readonly queued: readonly string[];
  /** The turn of the last event that names one. */
  readonly turn: number;
  readonly result?: RunResult;
}

/** A run of which nothing is known yet. */
export function newRunView(runId: string): RunView {
  return { runId, messages: [], live: new Map(), calls: new Map(), notes: [], queued: [], turn: 0 };
}

/** The key of an answer: each turn has one, and the reserved final answer has the number of the last turn. */
export function answerKey(turn: number, isFinal: boolean): string {
  return `${turn}${isFinal ? 'f' : ''}`;
}

/** The key of an answer of the transcript. */
export function answerKeyOf(message: Message): string {
  return answerKey(message.turn ?? 0, isFinalAnswer(message));
}

/** True for the reserved final answer, which a run writes at a limit. */
export function isFinalAnswer({ id }: Message): boolean {
  // the worker gives it such an id
  return id.endsWith('_final');
}

/** The events of a run that the page gets, by their types. */
export type RunEventOf<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;
