import { type CheckedStart, checkStart } from '../client/start-run.js';
import { PerdureError } from '../contracts/coded-error.js';
import { checkWorkspace } from './check-workspace.js';
import { parseDuration } from './parse-duration.js';
import type { PlaceOptions } from './place.js';

/** How a watched run is shown. */
export interface ShowOptions {
  readonly json?: boolean;
  readonly events?: boolean;
}

/** Caps and model, as the command line gives them: numbers that are none are still text. */
export interface CapOptions {
  readonly model?: string;
  readonly maxTurns?: number | string;
  readonly maxCost?: number | string;
  readonly maxTokens?: number | string;
  readonly deadline?: string;
}

/** The options of `run` and `start`. */
export interface RunOptions extends PlaceOptions, ShowOptions, CapOptions {
  readonly agent?: string;
  readonly workspace?: string;
  readonly iKnow?: boolean;
  readonly session?: string;
  readonly id?: string;
  readonly detach?: boolean;
  /** False with `--no-worker`. */
  readonly worker: boolean;
}

/** The run that a command line asks for, checked before anything is started. Throws PerdureError (exit 2). */
export async function startFromOptions(task: string, options: RunOptions): Promise<CheckedStart> {
  const { agent, session, id, workspace, iKnow = false } = options;
  const given = {
    task,
    ...capsFromOptions(options),
    ...(agent === undefined ? {} : { agent }),
    ...(session === undefined ? {} : { session }),
    ...(id === undefined ? {} : { id }),
  };
  checkStart(given);
  return checkStart(workspace === undefined ? given : { ...given, context: { workspace: await checkWorkspace(workspace, { iKnow }) } });
}

/** Caps and model under the names of the contract. Values are not checked yet, but for the duration. */
export function capsFromOptions(options: CapOptions): Record<string, unknown> {
  const { model, maxTurns, maxCost, maxTokens, deadline } = options;
  return {
    ...(model === undefined ? {} : { model }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ...(maxCost === undefined ? {} : { maxCostUsd: maxCost }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(deadline === undefined ? {} : { deadlineMs: parseDuration(deadline, 'deadline') }),
  };
}

/** Throws `BAD_OPTION` (exit 2) when both ways of machine output are asked for. */
export function checkShowOptions({ json, events }: ShowOptions): void {
  if (json && events) throw new PerdureError('BAD_OPTION', '--json and --events exclude each other', 2);
}
