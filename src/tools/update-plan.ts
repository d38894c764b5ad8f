import { z } from 'zod';
import { defineTool, type ToolDefinition } from '../define/define-tool.js';

const Status = z.enum(['pending', 'in_progress', 'done']);

const Parameters = z.strictObject({
  steps: z
    .array(z.strictObject({ step: z.string().min(1).max(500).describe('What to do in this step.'), status: Status }))
    .min(1)
    .max(100)
    .describe('The whole plan, in order. It replaces the previous plan.'),
});
type Parameters = z.infer<typeof Parameters>;

/**
 * Records the plan of a run. The completion gate reads it from the arguments of the last call. Available to agents whose gate has the
 * check `plan-finished`. It has no side effects, so no profile of the tool gate blocks it.
 */
export const updatePlan: ToolDefinition<Parameters> = defineTool({
  name: 'update_plan',
  description:
    'Write the plan of your work and keep it up to date: one entry per step, with status pending, in_progress or done. ' +
    'Each call replaces the whole plan. Before your final answer, every step must be done, or removed from the plan with a reason.',
  parameters: Parameters,
  effect: 'read',
  network: false,
  execute: ({ steps }: Parameters) => {
    const count = (status: z.infer<typeof Status>): number => steps.filter((step) => step.status === status).length;
    return `plan of ${steps.length}: ${count('done')} done, ${count('in_progress')} in progress, ${count('pending')} pending`;
  },
});
