import { ApplicationFailure } from '@temporalio/common';
import type { CallToolInput, ReconcileResult } from '../../contracts/activities.js';
import { TOOL_LIMITS } from '../../contracts/constants/limits.js';
import { withinTime } from '../runtime/call-signal.js';
import { attemptSignal, cancellationCause, throwUnlessUser } from '../runtime/cancellation.js';
import { withHeartbeat } from '../runtime/heartbeat.js';
import { maskParts } from '../runtime/mask-message.js';
import { steadyMs } from '../runtime/steady-clock.js';
import { type CallToolOptions, callOutput, hookedResult } from './hooked-result.js';
import { toolContext } from './tool-context.js';
import { ToolHooks } from './tool-hooks.js';
import { toolResultParts } from './tool-result-parts.js';

/**
 * Makes the activity `reconcileTool`: finds out the outcome of a call whose worker was lost. It only reads. In doubt the outcome is `unknown`.
 */
export function createReconcileTool(options: CallToolOptions): (input: CallToolInput) => Promise<ReconcileResult> {
  return (input) => {
    const startedMs = steadyMs();
    return withHeartbeat(
      input.tool,
      () => ({ phase: 'reconcile', elapsedMs: Math.round(steadyMs() - startedMs) }),
      () => reconcile(input, options, startedMs),
    );
  };
}

async function reconcile(input: CallToolInput, options: CallToolOptions, startedMs: number): Promise<ReconcileResult> {
  const tool = options.tools.get(input.tool);
  const parsed = tool?.parameters.safeParse(input.args);
  if (!tool?.reconcile || !parsed?.success) return { kind: 'unknown' };
  const signal = withinTime([attemptSignal()], TOOL_LIMITS.reconcileTimeoutMs);
  const hooks = new ToolHooks(options.hooks, input);
  const output = callOutput(input, hooks.storeFor(options.artifacts), options.secrets);
  const context = toolContext(input, signal, { shown: { details: '' }, output, secrets: options.secrets });
  try {
    // the arguments were parsed by this tool's own schema
    const found = await Promise.race([tool.reconcile(parsed.data as never, context), aborted(signal)]);
    // what a lost attempt did not find is asked again
    if (cancellationCause() === 'lost') throwUnlessUser('lost', `the reconcile of ${input.tool}`);
    if (found.kind !== 'done') return found;
    const ended = { outcome: 'ok', parts: maskParts(toolResultParts(found.result), options.secrets) } as const;
    return { kind: 'done', result: await hookedResult(input, options, { ended, output, hooks, startedMs }) };
  } catch (error) {
    if (error instanceof ApplicationFailure) throw error;
    context.log.warn(`reconcile failed, so the outcome is unknown: ${options.secrets.text(String(error))}`);
    return { kind: 'unknown' };
  } finally {
    output.close();
  }
}

/** Resolves with the signal. `reconcile` only reads, so one that ignores its signal need not be awaited. */
function aborted(signal: AbortSignal): Promise<{ readonly kind: 'unknown' }> {
  return new Promise((resolve) => {
    const stop = (): void => resolve({ kind: 'unknown' });
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
