import { z } from 'zod';
import { HOST } from '../constants/host-queue.js';
import { INPUT_LIMITS } from '../constants/limits.js';

const Name = z.string().max(INPUT_LIMITS.nameCharsMax);

/** The surroundings of a run: its workspace and facts for its prompt. */
export const RunContext = z.strictObject({
  /** Absolute path of a folder on the worker's host. With it the run is offered the workspace tools. */
  workspace: z.string().max(INPUT_LIMITS.pathCharsMax).optional(),
  /** Host that has the workspace, where several hosts share a queue; the run waits for its worker. @default hosts are asked at random */
  host: z.string().max(INPUT_LIMITS.hostCharsMax).regex(HOST).optional(),
  /** Path of the project, shown in the prompt. */
  projectPath: z.string().max(INPUT_LIMITS.pathCharsMax).optional(),
  /** Kind of work, shown in the prompt. */
  mode: z.enum(['code', 'ui']).optional(),
  /** Component that the task is about, shown in the prompt of mode `ui`. */
  component: z.string().max(INPUT_LIMITS.componentCharsMax).optional(),
  /** Type of the component, shown in the prompt of mode `ui`. */
  componentType: Name.optional(),
  /** File that the task is about, shown in the prompt. */
  file: z.string().max(INPUT_LIMITS.pathCharsMax).optional(),
  /** Selected text, shown in the prompt. */
  selection: z.string().max(INPUT_LIMITS.selectionCharsMax).optional(),
  /** Where the conversation takes place, such as `slack`, shown in prompts of mode `full` and `minimal`. */
  channel: Name.optional(),
  /** Time zone of the user, such as `Europe/Berlin`, for the date in prompts of mode `full` and `minimal`. @default the worker's */
  timeZone: Name.refine(isTimeZone, { error: 'is no time zone: use a name such as Europe/Berlin' }).optional(),
  /** Text of the caller for a sub-agent, shown in the prompt. */
  subAgentContext: z.string().max(INPUT_LIMITS.subAgentContextCharsMax).optional(),
  /** Further facts by name, shown in the prompt, and the values of a prompt template. */
  variables: z
    .record(z.string(), z.string())
    .refine((variables) => JSON.stringify(variables).length <= INPUT_LIMITS.variablesCharsMax, {
      error: `at most ${INPUT_LIMITS.variablesCharsMax} characters as JSON`,
    })
    .optional(),
});
export type RunContext = z.infer<typeof RunContext>;

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    // a RangeError for an unknown name
    return false;
  }
}
