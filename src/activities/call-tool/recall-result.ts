import { Context } from '@temporalio/activity';
import type { RecallResult, RecallResultInput } from '../../contracts/activities.js';
import { withHeartbeat } from '../runtime/heartbeat.js';
import { steadyMs } from '../runtime/steady-clock.js';
import type { TranscriptCache } from '../transcript/transcript-cache.js';
import type { KeptCall, KeptResults } from './kept-results.js';

/** The dependencies of the activity. */
export interface RecallResultOptions {
  readonly results: KeptResults;
  readonly cache: TranscriptCache;
}

/** Makes the activity `recallResult`: the result of a tool call that this host ran and could not report. It runs nothing. */
export function createRecallResult({ results, cache }: RecallResultOptions): (input: RecallResultInput) => Promise<RecallResult> {
  return (input) => {
    const startedMs = steadyMs();
    return withHeartbeat(
      'recallResult',
      () => ({ phase: 'recall', elapsedMs: Math.round(steadyMs() - startedMs) }),
      async () => {
        const found = await results.recall(keptCall(input));
        if (found.kind === 'done') cache.keepMessage(found.result.hash, found.result.message);
        return found;
      },
    );
  };
}

/** The call as its results are kept: of this execution of the run. */
export function keptCall({ runId, turn, key }: RecallResultInput): KeptCall {
  return { runId, turn, key, executionId: Context.current().info.workflowExecution?.runId ?? '' };
}
