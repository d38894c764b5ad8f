import { echoValue } from '../client/echo-value.js';
import { PerdureError } from '../contracts/perdure-error.js';

/** There is neither a server to ask nor a folder that ever had one. */
export function noSuchRun(runId: string): PerdureError {
  return new PerdureError('RUN_NOT_FOUND', `no run ${echoValue(runId)}: this folder has no runs, and no Temporal server is named`, 3);
}
