import { Context } from '@temporalio/activity';
import type { CallToolInput, CallToolResult } from '../../contracts/activities.js';
import { ownershipOf } from '../runtime/ownership.js';
import type { TranscriptCache } from '../transcript/transcript-cache.js';
import type { KeptCall, KeptResults } from './kept-results.js';
import { keptCall } from './recall-result.js';
import { reportAgain } from './report-again.js';

/** A tool call that is about to start. */
export interface CallWork {
  /** Runs the call. Rejects when its attempt is lost. */
  run(): Promise<CallToolResult>;
  /** After a rejection: the result of a tool that ignored its signal and still runs. It may be undefined; without such a tool there is none. */
  late(): Promise<CallToolResult | undefined> | undefined;
}

/** Runs a call and keeps its result, or answers it with the result that is kept. Rejects as `work.run` does. */
export async function runKept(
  input: CallToolInput,
  { results, cache }: { readonly results: KeptResults; readonly cache: TranscriptCache },
  work: CallWork,
): Promise<CallToolResult> {
  const call = keptCall(input);
  results.passed(input, call);
  const kept = await results.recall(call);
  if (kept.kind === 'done') {
    cache.keepMessage(kept.result.hash, kept.result.message);
    return kept.result;
  }
  if (kept.kind === 'stopped') await results.forget(call);
  results.started(call);
  try {
    const result = await work.run();
    await results.finished(call, result, { now: ownershipOf()?.isSilent ?? false });
    void reportAgain(Context.current(), result, () => results.isKept(call));
    return result;
  } catch (error) {
    const late = work.late();
    if (late) void keepLate(results, call, late);
    else await results.stopped(call, { shared: ownershipOf()?.isLost ?? false });
    throw error;
  }
}

/** Keeps the result of a tool that nobody waits for any more: the run may still ask for it. Never rejects. */
async function keepLate(results: KeptResults, call: KeptCall, late: Promise<CallToolResult | undefined>): Promise<void> {
  const result = await late.catch(() => undefined);
  if (result) await results.finished(call, result, { now: true });
  else await results.stopped(call, { shared: true });
}
