import { type CheckedStart, checkStart } from '../../client/runs/start-run.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { parseDuration } from '../options/duration.js';
import { readOutputSchema } from '../options/output-schema.js';
import { checkWorkspace } from '../options/workspace.js';
import type { PlaceOptions } from './workplace.js';

/** How a watched run is shown. */
export interface ShowOptions {
  readonly json?: boolean;
  readonly events?: boolean;
}

/** Model, caps and the way to work, as the command line gives them: numbers that are none are still text. */
export interface InputOptions {
  readonly model?: string;
  readonly maxTurns?: number | string;
  readonly maxCost?: number | string;
  readonly maxTokens?: number | string;
  readonly deadline?: string;
  readonly fallback?: readonly string[];
  /** A number of tokens is a number already. */
  readonly thinking?: number | string;
  readonly onBudget?: string;
  readonly allowUnknownPrice?: boolean;
  /** A file with a JSON Schema. */
  readonly outputSchema?: string;
  readonly chat?: boolean;
}

/** The options of `run` and `start`. */
export interface RunOptions extends PlaceOptions, ShowOptions, InputOptions {
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
    ...(await inputFromOptions(options)),
    ...(agent === undefined ? {} : { agent }),
    ...(session === undefined ? {} : { session }),
    ...(id === undefined ? {} : { id }),
  };
  checkStart(given);
  return checkStart(workspace === undefined ? given : { ...given, context: { workspace: await checkWorkspace(workspace, { iKnow }) } });
}

/** What a command line says of a run's input, under the names of the contract. Values are not checked yet, but for duration and file. */
export async function inputFromOptions(options: InputOptions): Promise<Record<string, unknown>> {
  const { model, fallback, thinking, maxTurns, maxCost, maxTokens, deadline, onBudget, allowUnknownPrice, outputSchema, chat } = options;
  return {
    ...(model === undefined ? {} : { model }),
    ...(fallback === undefined ? {} : { fallbacks: fallback }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ...(maxCost === undefined ? {} : { maxCostUsd: maxCost }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(deadline === undefined ? {} : { deadlineMs: parseDuration(deadline, 'deadline') }),
    ...(onBudget === undefined ? {} : { onBudget }),
    ...(allowUnknownPrice === undefined ? {} : { allowUnknownPrice }),
    ...(outputSchema === undefined ? {} : { outputSchema: await readOutputSchema(outputSchema) }),
    ...(chat === undefined ? {} : { mode: 'chat' }),
  };
}

/** Throws `BAD_OPTION` (exit 2) when both ways of machine output are asked for. */
export function checkShowOptions({ json, events }: ShowOptions): void {
  if (json && events) throw new PerdureError('BAD_OPTION', '--json and --events exclude each other', 2);
}
