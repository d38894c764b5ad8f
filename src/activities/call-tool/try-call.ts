import { randomUUID } from 'node:crypto';
import type { ArtifactStore } from '../../artifacts/artifact-store.js';
import { CallOutput } from '../../artifacts/call-output.js';
import { TOOL_LIMITS } from '../../contracts/constants/limits.js';
import { filesProblem } from '../../contracts/files/file-problem.js';
import type { ContentPart } from '../../contracts/schemas/message.js';
import type { SecretMask } from '../../contracts/text/secret-mask.js';
import type { AnyToolDefinition, ToolContext } from '../../define/define-tool.js';
import { completeBounds } from '../../output/truncate-output.js';
import { maskParts } from '../runtime/mask-message.js';
import { toolResultParts } from './tool-result-parts.js';

/** A call of a tool outside any run. */
export interface CallTrial {
  /** Parsed by the tool's own schema. */
  readonly args: unknown;
  /** Absolute. @default none */
  readonly workspace?: string | undefined;
  /** Aborts the call. */
  readonly signal: AbortSignal;
  readonly artifacts: ArtifactStore;
  readonly secrets: SecretMask;
  /** Receives the lines of the tool's log, and its progress as level `progress`. */
  readonly onLog: (level: 'info' | 'warn' | 'progress', message: string) => void;
}

/** How a call ended, and what a model would see of it. */
export interface TriedCall {
  readonly outcome: 'ok' | 'failed' | 'timeout' | 'cancelled';
  readonly parts: readonly ContentPart[];
  readonly durationMs: number;
}

/**
 * Runs a tool once with a real context, without Temporal. Its whole output is stored as in a run, and secrets of the worker are masked. Gates,
 * hooks and approvals do not apply. Never rejects for an error of the tool.
 */
export async function tryCall(tool: AnyToolDefinition, trial: CallTrial): Promise<TriedCall> {
  const { artifacts, secrets } = trial;
  const timeout = AbortSignal.timeout(tool.timeoutMs);
  const signal = AbortSignal.any([trial.signal, timeout]);
  const onLog: CallTrial['onLog'] = (level, message) => trial.onLog(level, secrets.text(message));
  const output = new CallOutput(completeBounds(), { store: artifacts, signal, secrets, onProblem: (problem) => onLog('warn', problem) });
  const startedMs = performance.now();
  try {
    const ended = await execute(tool, trial.args, contextOf({ ...trial, onLog }, { signal, output }));
    const parts = maskParts(ended.parts, secrets);
    const problem = filesProblem(parts);
    const refused = problem === undefined ? parts : toolResultParts(`the tool ran, but its result is refused: ${problem}`);
    const outcome = ended.isThrown ? failedOutcome(trial.signal, timeout) : problem === undefined ? 'ok' : 'failed';
    return {
      outcome,
      parts: await output.bounded(refused, outcome === 'ok' ? undefined : 'head-tail'),
      durationMs: Math.round(performance.now() - startedMs),
    };
  } finally {
    output.close();
  }
}

function contextOf(trial: Pick<CallTrial, 'workspace' | 'onLog'>, { signal, output }: Pick<ToolContext, 'signal' | 'output'>): ToolContext {
  const runId = `test-${randomUUID()}`;
  return {
    runId,
    turn: 1,
    callId: 'call',
    idempotencyKey: `${runId}/first/1/0`,
    attempt: 1,
    ...(trial.workspace === undefined ? {} : { workspace: trial.workspace }),
    signal,
    assertOwned: () => Promise.resolve(signal.throwIfAborted()),
    output,
    heartbeat: (details) => trial.onLog('progress', typeof details === 'string' ? details : (JSON.stringify(details) ?? '')),
    log: { info: (message) => trial.onLog('info', message), warn: (message) => trial.onLog('warn', message) },
  };
}

/** What the tool returned or threw. One that ignores its signal is left after a while, as in a run. */
async function execute(
  tool: AnyToolDefinition,
  args: unknown,
  context: ToolContext,
): Promise<{ readonly parts: readonly ContentPart[]; readonly isThrown: boolean }> {
  try {
    // the arguments were parsed by this tool's own schema
    const work = Promise.resolve(tool.execute(args as never, context));
    return { parts: toolResultParts(await Promise.race([work, abandoned(context.signal)])), isThrown: false };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { parts: toolResultParts(text === '' ? 'tool failed without message' : text), isThrown: true };
  }
}

function abandoned(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = (): void => {
      setTimeout(() => reject(new Error('the tool did not stop when it was aborted')), TOOL_LIMITS.abandonAfterMs).unref();
    };
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
}

function failedOutcome(cancel: AbortSignal, timeout: AbortSignal): TriedCall['outcome'] {
  if (cancel.aborted) return 'cancelled';
  return timeout.aborted ? 'timeout' : 'failed';
}
