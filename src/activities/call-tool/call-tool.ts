import { Context } from '@temporalio/activity';
import type { CallToolInput, CallToolResult, HeartbeatDetails } from '../../contracts/activities.js';
import { withHeartbeat } from '../runtime/heartbeat.js';
import { steadyMs } from '../runtime/steady-clock.js';
import type { CallToolOptions } from './hooked-result.js';
import { runKept } from './run-kept.js';
import { ToolHooks } from './tool-hooks.js';
import { ToolRun } from './tool-run.js';

/**
 * Makes the activity `callTool`: runs one tool once. Every outcome is a result for the model. It throws only when its attempt is lost. A
 * call whose result is kept on this host is answered with it, and does not run again.
 */
export function createCallTool(options: CallToolOptions): (input: CallToolInput) => Promise<CallToolResult> {
  return (input) => {
    const shown = { details: '' };
    const startedMs = steadyMs();
    const hooks = new ToolHooks(options.hooks, input);
    const progress = (): HeartbeatDetails => ({
      phase: 'tool',
      elapsedMs: Math.round(steadyMs() - startedMs),
      // the last heartbeat is stored in history: text that hooks may rewrite must not be in it
      lastText: hooks.rewrite ? '' : shown.details,
      ...(options.queue === undefined ? {} : { queue: options.queue }),
    });
    const call = new ToolRun(input, options, { shown, hooks, startedMs, progress });
    // the server knows nothing of a local activity, and its workflow task has a time limit of its own
    if (Context.current().info.isLocal) return call.run();
    // a `read` call may run again: nothing of it needs to be kept
    const isRepeatable = input.effect === 'read';
    return withHeartbeat(input.tool, progress, () => (isRepeatable ? call.run() : runKept(input, options, call)), { isRepeatable });
  };
}
