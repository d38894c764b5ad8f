import { z } from 'zod';
import { SLEEP_LIMITS } from '../contracts/constants/limits.js';
import { SLEEP_TOOL } from '../contracts/text/ids.js';
import { defineTool, type ToolDefinition } from '../define/define-tool.js';

const Parameters = z.strictObject({
  seconds: z
    .number()
    .min(SLEEP_LIMITS.secondsMin)
    .max(SLEEP_LIMITS.msMax / 1_000)
    .optional()
    .describe('How long to wait, in seconds. Give either this or until.'),
  until: z.string().optional().describe('The time at which the wait ends, with a time zone, such as 2031-05-01T09:00:00Z.'),
});
type Parameters = z.infer<typeof Parameters>;

/** Waits for a time, for its descriptor: the workflow answers its calls. It changes nothing, so no profile of the tool gate blocks it. */
export const sleep: ToolDefinition<Parameters> = defineTool({
  name: SLEEP_TOOL,
  description:
    `Wait for a time, up to ${SLEEP_LIMITS.msMax / 86_400_000} days, before you continue: for example until a build or a deployment has ended. ` +
    'Later calls of the same answer wait too. A message of the user may end the wait early.',
  parameters: Parameters,
  effect: 'read',
  network: false,
  execute: () => {
    throw new Error('the run waits itself');
  },
});
