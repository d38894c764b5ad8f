import type { WatchItem } from '../../../../src/client/watch/watch-run.js';
import type { RunEventBody } from '../../../../src/contracts/event.js';
import { NO_USAGE } from '../../../../src/contracts/models/usage.js';
import type { Message, Part } from '../../../../src/contracts/schemas/message.js';
import type { Progress } from '../../../../src/contracts/schemas/run.js';
import type { StreamEntry, StreamEventBody } from '../../../../src/streams/stream.js';
import { COMPLETED } from '../../support/progress.js';

/** An event of a run. */
export function event(body: RunEventBody): Extract<WatchItem, { type: 'event' }> {
  return { type: 'event', event: { seq: 1, at: Date.now(), ...body } };
}

/** A token of a turn. */
export function streamed(turn: number, body: StreamEventBody): Extract<WatchItem, { type: 'stream' }> {
  return { type: 'stream', event: { id: '1', runId: 'r', turn, attempt: 1, epoch: turn, seq: 1, ...body } satisfies StreamEntry };
}

/** The tokens of a whole answer, a word each. */
export function answer(turn: number, text: string): WatchItem[] {
  const words = text.split(/(?<= )/u).map((word) => streamed(turn, { type: 'text', text: word }));
  return [streamed(turn, { type: 'reset' }), ...words, streamed(turn, { type: 'end' })];
}

export function turnStarted(turn: number): WatchItem {
  return event({ type: 'turn.started', turn });
}

export function completed(turn: number, text: string): WatchItem {
  return event({ type: 'model.completed', turn, model: 'm', stop: 'end', usage: NO_USAGE, text });
}

export function toolCall(turn: number, tool: string, title: string, callId = 'c1'): WatchItem {
  return event({ type: 'tool.call', turn, callId, tool, title, effect: 'once' });
}

export function toolResult(turn: number, outcome = 'ok', callId = 'c1'): WatchItem {
  return event({ type: 'tool.result', turn, callId, isError: outcome !== 'ok', outcome, durationMs: 120, bytes: 2_048 });
}

/** A message of the model, as the transcript has it. */
export function said(turn: number, ...parts: Part[]): Message {
  return { id: `a${turn}`, role: 'assistant', turn, parts };
}

/** The result of a call, as the transcript has it. */
export function gave(turn: number, text: string, { callId = 'c1', isError = false } = {}): Message {
  return { id: `t${turn}`, role: 'tool', turn, parts: [{ type: 'tool_result', callId, isError, parts: [{ type: 'text', text }] }] };
}

export const RUNNING: Progress = {
  status: 'running',
  phase: 'model',
  turn: 3,
  maxTurns: 20,
  usage: { ...NO_USAGE, inputTokens: 1_234, outputTokens: 56 },
  costUsd: 0.0123,
  inbox: 0,
  pendingApprovals: 0,
  agent: 'default',
  model: 'fake/model',
};

/** The result of a run with this output. */
export function ended(output: string): WatchItem {
  return { type: 'result', result: { ...COMPLETED, output } };
}
