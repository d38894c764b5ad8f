import type { RunEvent } from '../../contracts/event.js';
import type { Progress } from '../../contracts/schemas/run.js';
import { formatDuration, formatUsage } from './format.js';
import { terminalLine } from './terminal-text.js';

/** What the live line shows: the last progress, and how long the run has been watched. */
export interface StatusLineInput {
  readonly progress: Progress;
  readonly elapsedMs: number;
  readonly columns: number;
}

/** The live line: turn of cap, phase, tool, tokens, cost, time; cut to the width of the terminal. */
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
  // the last column stays free: many terminals wrap when it is written
  return line.length < columns ? line : `${line.slice(0, Math.max(0, columns - 2))}…`.toWellFormed();
}

function phaseWord(progress: Progress): string {
  if (progress.status === 'paused') return 'paused';
  if (progress.waitingFor !== undefined) return `waiting: ${terminalLine(progress.waitingFor)}`;
  return progress.phase === 'model' ? `model ${terminalLine(progress.model)}` : progress.phase;
}

/** Progress is asked for once a second; between two answers the events say which turn and tool it is. Pure. */
export function progressAfter(progress: Progress, event: RunEvent): Progress {
  const { tool: _tool, waitingFor: _waitingFor, ...rest } = progress;
  if (event.type === 'turn.started') return { ...rest, turn: event.turn, phase: 'model' };
  if (event.type === 'tool.call') return { ...rest, turn: event.turn, phase: 'tools', tool: event.title };
  return progress;
}
