import { Context } from '@temporalio/activity';
import type { ArtifactStore } from '../../artifacts/artifact-store.js';
import { CallOutput } from '../../artifacts/call-output.js';
import type { CallToolInput, CallToolResult, ToolOutcome } from '../../contracts/activities.js';
import { PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import { filesProblem } from '../../contracts/files/file-problem.js';
import type { Message } from '../../contracts/schemas/message.js';
import type { SecretMask } from '../../contracts/text/secret-mask.js';
import type { AnyToolDefinition } from '../../define/define-tool.js';
import { completeBounds } from '../../output/truncate-output.js';
import type { HookRunner } from '../hooks/hook-runner.js';
import { steadyMs } from '../runtime/steady-clock.js';
import { hashMessage } from '../transcript/message-hash.js';
import type { TranscriptCache } from '../transcript/transcript-cache.js';
import type { KeptResults } from './kept-results.js';
import type { Ended, ToolHooks } from './tool-hooks.js';
import { toolResultParts } from './tool-result-parts.js';

/** The tools of a worker by name. */
export type KnownTools = Pick<ReadonlyMap<string, AnyToolDefinition>, 'get'>;

/** The dependencies of the activities that give the result of a tool call. */
export interface CallToolOptions {
  readonly tools: KnownTools;
  readonly cache: TranscriptCache;
  /** The store for the whole text of cut outputs. */
  readonly artifacts: ArtifactStore;
  readonly hooks: HookRunner;
  readonly secrets: SecretMask;
  /** The results of finished calls, for those that the server did not take. */
  readonly results: KeptResults;
  /** The queue of this host, if several hosts share a task queue. */
  readonly queue?: string;
}

/** An ended call, and the parts for its result. */
export interface EndedCall {
  readonly ended: Ended;
  readonly output: CallOutput;
  readonly hooks: ToolHooks;
  /** The start, on the clock of `steadyMs`. */
  readonly startedMs: number;
}

/** The result after the hooks, within the output limits. Text that hooks rewrite reaches neither history nor an artifact. */
export async function hookedResult(
  input: CallToolInput,
  options: CallToolOptions,
  { ended, output, hooks, startedMs }: EndedCall,
): Promise<CallToolResult> {
  const { abort, ...left } = await hooks.after(ended);
  const bounds = hooks.rewrite ? callOutput(input, options.artifacts, options.secrets) : output;
  // the beginning of an error says what failed
  const keep = left.outcome === 'ok' ? undefined : 'head-tail';
  const parts = await bounds.bounded(left.parts, keep);
  const result = asResult(input, options, { ...left, parts }, Math.round(steadyMs() - startedMs));
  return abort === undefined ? result : { ...result, abort };
}

/** The output of one call, within the limits from the workflow. The worker's store keeps the whole text of a cut output. */
export function callOutput({ output, tool }: CallToolInput, store: ArtifactStore, secrets: SecretMask): CallOutput {
  const { log, cancellationSignal: signal } = Context.current();
  return new CallOutput(completeBounds(output), { store, signal, secrets, onProblem: (problem) => log.warn(problem, { tool }) });
}

/** Makes the result message and puts it into this worker's cache. A message that is too large, or has an invalid image, is replaced by a failed result. */
function asResult(
  input: Pick<CallToolInput, 'callId' | 'turn'>,
  { cache }: Pick<CallToolOptions, 'cache'>,
  ended: Ended,
  durationMs: number,
): CallToolResult {
  const message: Message = {
    id: input.callId,
    role: 'tool',
    turn: input.turn,
    parts: [{ type: 'tool_result', callId: input.callId, isError: ended.outcome !== 'ok', parts: [...ended.parts] }],
  };
  const bytes = Buffer.byteLength(JSON.stringify(message));
  if (bytes > PAYLOAD_LIMITS.messageBytesMax) {
    return asResult(
      input,
      { cache },
      endedWith('failed', `the tool ran, but its result of ${bytes} bytes is too large to pass on`),
      durationMs,
    );
  }
  const problem = filesProblem(ended.parts);
  if (problem !== undefined) {
    return asResult(input, { cache }, endedWith('failed', `the tool ran, but its result is refused: ${problem}`), durationMs);
  }
  const hash = hashMessage(message);
  cache.keepMessage(hash, message);
  return { message, hash, outcome: ended.outcome, durationMs };
}

/** An ended call whose result is a text. */
export function endedWith(outcome: ToolOutcome, text: string): Ended {
  return { outcome, parts: toolResultParts(text) };
}
