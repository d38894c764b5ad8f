import type { CallToolInput, ReconcileResult } from '../contracts/activities.js';
import { TOOL_LIMITS } from '../contracts/limits.js';
import { asResult, type CallToolOptions, toolContext } from './call-tool.js';
import { withHeartbeat } from './heartbeat.js';

/** Makes the activity `reconcileTool`: looks how a call ended whose worker died. It only reads; what it cannot find out is `unknown`. */
export function createReconcileTool(options: CallToolOptions): (input: CallToolInput) => Promise<ReconcileResult> {
  return (input) => {
    const startedAt = Date.now();
    return withHeartbeat(
      input.tool,
      () => ({ phase: 'reconcile', elapsedMs: Date.now() - startedAt }),
      () => reconcile(input, options, startedAt),
    );
  };
}

async function reconcile(input: CallToolInput, options: CallToolOptions, startedAt: number): Promise<ReconcileResult> {
  const tool = options.tools.get(input.tool);
  const parsed = tool?.parameters.safeParse(input.args);
  if (!tool?.reconcile || !parsed?.success) return { kind: 'unknown' };
  const context = toolContext(input, AbortSignal.timeout(TOOL_LIMITS.reconcileTimeoutMs), { details: null });
  try {
    // the arguments were parsed by this tool's own schema
    const found = await tool.reconcile(parsed.data as never, context);
    if (found.kind !== 'done') return found;
    return { kind: 'done', result: asResult(input, options, { outcome: 'ok', value: found.result }, Date.now() - startedAt) };
  } catch (error) {
    context.log.warn(`reconcile failed, so the outcome is unknown: ${String(error)}`);
    return { kind: 'unknown' };
  }
}
