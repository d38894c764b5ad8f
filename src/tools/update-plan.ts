import { z } from 'zod';
import { defineTool, type ToolDefinition } from '../define/define-tool.js';

const Status = z.enum(['pending', 'in_progress', 'done']);

const Parameters = z.strictObject({
  steps: z
    .array(z.strictObject({ step: z.string().min(1).max(500).describe('What is to be done.'), status: Status }))
    .min(1)
    .max(100)
    .describe('The whole plan, in order: it replaces the one before.'),
});
type Parameters = z.infer<typeof Parameters>;

/**
 * Keeps the plan of a run where its completion gate finds it: in the arguments of the last call. Offered to agents whose gate has the
 * check `plan-finished`. It changes nothing in the world, so no profile of the tool gate keeps an agent from it.
 */
export const updatePlan: ToolDefinition<Parameters> = defineTool({
  name: 'update_plan',
  description:
    'Write down the plan of your work, and keep it up to date: one entry for each step, with status pending, in_progress or done. ' +
    'Each call replaces the whole plan. Before your last answer every step must be done, or taken out of the plan with a reason.',
  parameters: Parameters,
  effect: 'read',
  network: false,
  execute: ({ steps }: Parameters) => {
    const count = (status: z.infer<typeof Status>): number => steps.filter((step) => step.status === status).length;
    return `plan of ${steps.length}: ${count('done')} done, ${count('in_progress')} in progress, ${count('pending')} pending`;
  },
});
