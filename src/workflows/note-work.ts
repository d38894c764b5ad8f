import type { Message, ToolCallPart } from '../contracts/schemas/message.js';
import { recordWork } from './policies/answer/work-record.js';
import type { Run } from './state/run.js';

/** Keeps in mind what the answered calls of a turn did, for the looks at the end; a run without such looks keeps nothing. */
export function noteWork(run: Run, calls: readonly ToolCallPart[], results: readonly Message[]): void {
  const { completion: policy } = run.policy;
  if (policy.checks.length === 0) return;
  run.work = recordWork(run.work, { calls, results }, { policy, effectOf: (tool) => run.descriptor(tool)?.effect });
}
