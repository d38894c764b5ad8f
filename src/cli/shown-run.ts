import type { PendingCall, RunDescription } from '../client/run-description.js';
import type { Progress, RunResult } from '../contracts/run.js';
import { formatUsage } from './format-amounts.js';

/** Everything `show` knows of a run. */
export interface ShownRun {
  readonly described: RunDescription;
  readonly progress: Progress | undefined;
  readonly result: RunResult | undefined;
  readonly uiUrl: string | undefined;
}

/** A run for a person: one fact a line, the output last. Pure. */
export function formatShown({ described, progress, result, uiUrl }: ShownRun): string {
  const facts: (readonly [string, string | undefined])[] = [
    ['run', described.runId],
    ['status', progress?.status ?? described.status],
    ['task', described.task],
    ['agent', progress?.agent ?? described.agent],
    ['model', progress?.model ?? described.model],
    ['turn', progress && `${progress.turn} of ${progress.maxTurns}${described.open ? ` (${progress.phase})` : ''}`],
    ['waiting for', progress?.waitingFor],
    ['tool', progress?.tool],
    ['usage', progress && formatUsage(progress.usage, progress.costUsd)],
    ['queued', progress && progress.inbox > 0 ? `${progress.inbox} messages` : undefined],
    ...described.pending.map((call) => ['call', pendingLine(call)] as const),
    ['started', described.startedAt],
    ['ended', described.closedAt],
    ['error', result?.error && `${result.error.type}: ${result.error.message}`],
    ['web ui', uiUrl],
  ];
  const lines = facts.flatMap(([name, value]) => (value === undefined ? [] : [`${name.padEnd(FACT_WIDTH)}${value}`]));
  return result && result.output !== '' ? [...lines, '', result.output].join('\n') : lines.join('\n');
}

const FACT_WIDTH = 13;

function pendingLine({ activity, attempt, started, lastFailure }: PendingCall): string {
  const state = started ? 'running' : 'waiting';
  return `${activity}, attempt ${attempt}, ${state}${lastFailure === undefined ? '' : `, last failure: ${lastFailure}`}`;
}
