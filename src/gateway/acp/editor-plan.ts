import type { PlanEntry } from '@agentclientprotocol/sdk';
import { z } from 'zod';

/** The tool whose calls are shown as the plan of the editor. */
export const PLAN_TOOL = 'update_plan';

const PlanArguments = z.looseObject({
  steps: z.array(z.looseObject({ step: z.string(), status: z.enum(['pending', 'in_progress', 'done']) })),
});

/** The entries of the plan that a call of `update_plan` writes. Undefined for arguments that the tool refuses. */
export function planEntries(args: unknown): PlanEntry[] | undefined {
  return PlanArguments.safeParse(args).data?.steps.map(({ step, status }) => ({
    content: step,
    // plans of agents have no priorities
    priority: 'medium',
    status: status === 'done' ? 'completed' : status,
  }));
}
