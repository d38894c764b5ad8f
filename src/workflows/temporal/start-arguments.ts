import { workflowInfo } from '@temporalio/workflow';
import { RUN_LIMITS } from '../../contracts/constants/limits.js';
import type { WrittenState } from '../../contracts/schemas/carried-state.js';
import type { RunInput } from '../../contracts/schemas/run.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { unreadableReason } from '../../contracts/verbs/unreadable.js';
import type { ActivityProblem } from './failures.js';

/** Why a run cannot be prepared. */
export type StartProblem = Pick<ActivityProblem, 'type' | 'message'>;

/** The arguments of a run. With a `problem` the run ends with it, and `input` is an empty one. */
export interface StartArguments {
  readonly input: RunInput;
  readonly state?: WrittenState;
  readonly problem?: StartProblem;
}

/**
 * Reads the arguments of a run, which may come from any client. Whatever they are, the run ends with a result: an error that is thrown
 * here would fail its first workflow task for ever. What activity `prepareRun` checks is left to it. The arguments of a run that
 * continued as new were written by a worker: they are taken as they are. Throws, so that the workflow task is tried again, when a worker
 * could read arguments before and this one cannot.
 */
export function readStart(input: RunInput, state: WrittenState | undefined): StartArguments {
  const { continuedFromExecutionRunId, unsafe } = workflowInfo();
  const unreadable = unreadableReason(input) ?? unreadableReason(state);
  const isContinued = continuedFromExecutionRunId !== undefined;
  if (unreadable !== undefined && (isContinued || (unsafe.isReplaying && unreadable.includes('BLOB_MISSING')))) throw new Error(unreadable);
  if (isContinued) return { input, ...(state === undefined ? {} : { state }) };
  const message = state === undefined ? problemOf(input) : 'a run takes one argument; the second one is for runs that continued as new';
  if (message === undefined) return { input };
  return { input: { task: '' }, problem: { type: 'Input.Invalid', message: `BAD_INPUT input: ${message}` } };
}

function problemOf(input: unknown): string | undefined {
  const unreadable = unreadableReason(input);
  if (unreadable !== undefined) return `cannot be decoded: ${unreadable}; send it as JSON`;
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return `an object is needed, got ${echoValue(input)}`;
  if (isDeeperThan(RUN_LIMITS.inputDepthMax, input)) return `nested more than ${RUN_LIMITS.inputDepthMax} levels deep`;
  return undefined;
}

/** True for a value with more levels of objects and arrays. A deep value overflows the stack of whoever writes it as JSON. */
function isDeeperThan(levelsMax: number, value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth <= levelsMax; depth += 1) {
    level = level.flatMap((entry) => (typeof entry === 'object' && entry !== null ? Object.values(entry) : []));
    if (level.length === 0) return false;
  }
  return true;
}
