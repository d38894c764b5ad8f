import type { SubagentProgress } from '../../contracts/schemas/run.js';
import type { EndedSubagent } from '../../contracts/schemas/subagent.js';
import { formatUsage } from './format.js';
import { terminalLine } from './terminal-text.js';

/** A sub-agent with its own sub-agents. */
export interface SubagentNode extends SubagentProgress, Partial<Pick<EndedSubagent, 'usage' | 'costUsd' | 'output'>> {
  readonly subagents: readonly SubagentNode[];
}

/** Formats a tree of sub-agents: one line each, indented below the one that started it. Pure. */
export function subagentLines(subagents: readonly SubagentNode[], depth = 0): string[] {
  return subagents.flatMap((subagent) => [
    `${'  '.repeat(depth)}${subagentLine(subagent)}`,
    ...subagentLines(subagent.subagents, depth + 1),
  ]);
}

/** A result has the usage of a sub-agent; a running agent shows that it is at work. */
function subagentLine({ runId, reason, usage, costUsd }: SubagentNode): string {
  const spent = usage === undefined ? '' : `, ${formatUsage(usage, costUsd)}`;
  return `${terminalLine(runId)}: ${terminalLine(reason ?? 'at work')}${spent}`;
}
