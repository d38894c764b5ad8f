import type { RunEvent } from '../../contracts/event.js';
import type { Progress } from '../../contracts/schemas/run.js';
import { formatDuration, formatUsage } from './format.js';
import { terminalLine } from './terminal-text.js';

/** The data of the status line: the last progress, and the time since the watch started. */
export interface StatusLineInput {
  readonly progress: Progress;
  readonly elapsedMs: number;
  readonly columns: number;
}

/** Formats the status line: turn and turn limit, phase, tool, tokens, cost and time, cut to the width of the terminal. */
export function statusLine({ progress, elapsedMs, columns }: StatusLineInput): string {
  const parts = [
    `turn ${progress.turn}/${progress.maxTurns}`,
    phaseWord(progress),
    ...(progress.tool === undefined ? [] : [terminalLine(progress.tool)]),
    formatUsage(progress.usage, progress.costUsd),
    formatDuration(elapsedMs),
    ...(progress.inbox > 0 ? [`${progress.inbox} queued`] : []),
  ];
  const line = parts.join(' · ');
  // the last column stays empty, because many terminals wrap after it
  return line.length < columns ? line : `${line.slice(0, Math.max(0, columns - 2))}…`.toWellFormed();
}

function phaseWord(progress: Progress): string {
  if (progress.status === 'paused') return 'paused';
  if (progress.waitingFor !== undefined) return `waiting: ${terminalLine(progress.waitingFor)}`;
  return progress.phase === 'model' ? `model ${terminalLine(progress.model)}` : progress.phase;
}

/** Updates the progress from an event, because the progress itself is queried only once a second. Pure. */
export function progressAfter(progress: Progress, event: RunEvent): Progress {
  const { tool: _tool, waitingFor: _waitingFor, ...rest } = progress;
  if (event.type === 'turn.started') return { ...rest, turn: event.turn, phase: 'model' };
  if (event.type === 'tool.call') return { ...rest, turn: event.turn, phase: 'tools', tool: event.title };
  return progress;
}
