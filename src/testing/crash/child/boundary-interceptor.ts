import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { BoundaryGate } from './boundary-gate.js';
import type { Boundary } from './protocol.js';

/** A scripted answer takes longer than this, so that the boundary lies inside the model call. */
const INSIDE_MODEL_AFTER_MS = 30;
/** The SDK reports a result within a few milliseconds after the activity returned. */
const REPORTED_AFTER_MS = 30;

/** Reports the boundaries of every activity, and waits at those before and after its code. */
export function boundaryInterceptor(gate: BoundaryGate): ActivityInterceptorsFactory {
  return ({ info }) => {
    const runId = info.workflowExecution?.workflowId ?? '';
    const activity = info.activityType;
    return {
      inbound: {
        async execute(input, next) {
          const at = { activity, runId, ...toolOf(input.args[0]) } satisfies Partial<Boundary>;
          await gate.pass({ ...at, point: 'before' });
          const inside = setTimeout(() => gate.tell({ ...at, point: 'inside' }), INSIDE_MODEL_AFTER_MS);
          // a tool of the config reports this boundary itself, at its start
          if (activity !== 'callModel') clearTimeout(inside);
          try {
            return await next(input);
          } finally {
            clearTimeout(inside);
            await gate.pass({ ...at, point: 'after' });
            setTimeout(() => gate.tell({ ...at, point: 'reported' }), REPORTED_AFTER_MS);
          }
        },
      },
    };
  };
}

function toolOf(input: unknown): { readonly tool?: string } {
  return typeof input === 'object' && input !== null && 'tool' in input && typeof input.tool === 'string' ? { tool: input.tool } : {};
}
