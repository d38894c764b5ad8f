import { ApplicationFailure } from '@temporalio/common';
import { CAPABILITY_LEVEL } from '../../contracts/capability-level.js';
import type { RunInput } from '../../contracts/schemas/run.js';
import { findRoute, type PreparedPrompt, type PrepareRunOptions, prepare } from './prepare-run.js';

/** A run as it would start. */
export interface RunPreview extends PreparedPrompt {
  /** Why the run could not start: no model can be called. Its other parts are complete. */
  readonly modelProblem?: string;
}

/** The model of a preview without one. */
const NO_MODEL = 'none';

/**
 * Prepares a run as the activity `prepareRun` does, and starts nothing. Without a model that can be called, the preview reports it. Throws
 * the failures of `prepareRun`, but not `Input.NoModel`.
 */
export async function previewRun(input: unknown, options: PrepareRunOptions, runId: string): Promise<RunPreview> {
  let modelProblem: string | undefined;
  const routeOf: typeof findRoute = async (...args) => {
    try {
      return await findRoute(...args);
    } catch (error) {
      if (!(error instanceof ApplicationFailure) || error.type !== 'Input.NoModel') throw error;
      modelProblem = error.message;
      const none = { model: NO_MODEL, credentials: [], contextWindow: 0, price: { input: 0, output: 0 } };
      return { route: [none], notices: [] };
    }
  };
  // prepare validates it, as it does for a start of any client
  const request = { runId, input: input as RunInput, level: CAPABILITY_LEVEL };
  const preview = await prepare(request, options, { signal: undefined, routeOf });
  return modelProblem === undefined ? preview : { ...preview, modelProblem };
}
