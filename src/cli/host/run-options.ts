import { type CheckedStart, checkStart } from '../../client/runs/start-run.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { parseDuration } from '../options/duration.js';
import { readOutputSchema } from '../options/output-schema.js';
import { checkWorkspace } from '../options/workspace.js';
import type { PlaceOptions } from './workplace.js';

/** The output options of the commands that follow a run. */
export interface ShowOptions {
  readonly json?: boolean;
  readonly events?: boolean;
}

/** The options of a run's input, before validation: a value that is not a number is still text. */
export interface InputOptions {
  readonly model?: string;
  readonly maxTurns?: number | string;
  readonly maxCost?: number | string;
  readonly maxTokens?: number | string;
  readonly deadline?: string;
  readonly fallback?: readonly string[];
  /** A number of tokens is already parsed. */
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
  readonly tenant?: string;
  readonly id?: string;
  readonly detach?: boolean;
  /** False with `--no-worker`. */
  readonly worker: boolean;
}

/** Builds the input of a run from its options and validates it. Throws PerdureError (exit 2). */
export async function startFromOptions(task: string, options: RunOptions): Promise<CheckedStart> {
  const { agent, session, tenant, id, workspace, iKnow = false } = options;
  const given = {
    task,
    ...(await inputFromOptions(options)),
    ...(agent === undefined ? {} : { agent }),
    ...(session === undefined ? {} : { session }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(id === undefined ? {} : { id }),
  };
  checkStart(given);
  return checkStart(workspace === undefined ? given : { ...given, context: { workspace: await checkWorkspace(workspace, { iKnow }) } });
}

/** Converts options to the field names of RunInput. Validates only durations and the schema file. */
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

/** Throws `BAD_OPTION` (exit 2) if both `--json` and `--events` are given. */
export function checkShowOptions({ json, events }: ShowOptions): void {
  if (json && events) throw new PerdureError('BAD_OPTION', '--json and --events cannot be combined', 2);
}
