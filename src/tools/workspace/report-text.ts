import { SECOND_MS } from '../../contracts/constants/units.js';
import type { OutputCollector } from '../../define/define-tool.js';
import { formatBytes } from '../../output/truncate-output.js';
import type { ProcessTreeEnd } from '../../process/process-tree.js';
import { type CommandLimits, type LimitName, reachedLimit } from '../../process/sandbox/limits.js';
import type { BoundsReport } from './command-bounds.js';

/**
 * The limits that a command reached: those that its control group counted, and the one that its end shows. `isContained`: it ended on its
 * own, in a container.
 */
export function reachedBy(
  { reached }: Pick<BoundsReport, 'reached'>,
  { exitCode, isContained = false }: Pick<ProcessTreeEnd, 'exitCode'> & { readonly isContained?: boolean },
  output: Pick<OutputCollector, 'lastLine'>,
): readonly LimitName[] {
  const said = exitCode === 0 ? undefined : reachedLimit(exitCode, output.lastLine(), isContained);
  return [...new Set([...reached, ...(said ? [said] : [])])];
}

/** Names the limits that a command reached. Empty without limits. */
export function limitsText(names: readonly LimitName[], limits: CommandLimits | undefined): string {
  return limits ? names.map((name) => `; reached its limit of ${quantity(name, limits[name])}`).join('') : '';
}

function quantity(name: LimitName, value: number): string {
  return {
    processes: `${value} processes`,
    memoryBytes: `${formatBytes(value)} of memory`,
    cpuMs: `${value / SECOND_MS} s of CPU time`,
    fileBytes: `${formatBytes(value)} for one file`,
    openFiles: `${value} open files`,
  }[name];
}

/** Names the protected files that a command made. Empty if there are none. */
export function refusalText(paths: readonly string[]): string {
  if (paths.length === 0) return '';
  return `; only the owner of this project may create or replace ${paths.join(', ')}: renamed to .refused-*`;
}
