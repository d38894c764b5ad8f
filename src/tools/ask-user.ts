import { z } from 'zod';
import { QUESTION_LIMITS } from '../contracts/constants/limits.js';
import { ASK_TOOL } from '../contracts/text/ids.js';
import { defineTool, type ToolDefinition } from '../define/define-tool.js';

const { questionCharsMax, choicesMax, choiceCharsMax } = QUESTION_LIMITS;

const Parameters = z.strictObject({
  question: z.string().min(1).max(questionCharsMax).describe('The question, with all that is needed to answer it.'),
  choices: z.array(z.string().min(1).max(choiceCharsMax)).min(1).max(choicesMax).optional().describe('The answers to choose from.'),
  other: z.boolean().optional().describe('True if the user may give another answer than the choices.'),
});
type Parameters = z.infer<typeof Parameters>;

/**
 * Asks a person, for its descriptor: the workflow answers its calls. It changes nothing, so no profile of the tool gate blocks it.
 */
export const askUser: ToolDefinition<Parameters> = defineTool({
  name: ASK_TOOL,
  description:
    'Ask the user one question and wait for the answer, which may take days. Ask only for what you cannot find out or decide yourself. ' +
    'The user does not see this conversation: the question must say all that is needed. Ask several questions as several calls of one answer.',
  parameters: Parameters,
  effect: 'read',
  network: false,
  execute: () => {
    throw new Error('the run waits for the answer itself');
  },
});
