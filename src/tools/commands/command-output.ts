import { z } from 'zod';
import { BACKGROUND_LIMITS } from '../../contracts/constants/limits.js';
import { defineTool, type ToolContext, type ToolDefinition } from '../../define/define-tool.js';
import { awaitOutput } from './await-output.js';
import type { BackgroundCommand, BackgroundCommands } from './background-commands.js';
import { type CommandRun, runOfCall } from './command-record.js';
import { nameText, pageOf, resultText, stateText } from './command-text.js';
import { outputSize, readOutput } from './output-files.js';

/** The parameter that names a command. */
export const CommandName = z.string().min(1).max(80).describe('Id of the command, or its name.');

const Parameters = z.strictObject({
  id: CommandName,
  after: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe('Position in bytes. The output after this position is returned. Default: the end of the output.'),
  waitMs: z
    .number()
    .int()
    .min(0)
    .max(BACKGROUND_LIMITS.waitMsMax)
    .optional()
    .describe(`Wait this long for new output, or for the end. At most ${BACKGROUND_LIMITS.waitMsMax}. Default 0.`),
});
type Parameters = z.infer<typeof Parameters>;

/** Room for the first line of a result. */
const HEADER_BYTES = 2_000;
const MARGIN_MS = 15_000;

/** Creates the tool that reads the output of a background command in pages, and tells how the command is. */
export function createCommandOutput(background: BackgroundCommands): ToolDefinition<Parameters> {
  return defineTool({
    name: 'command_output',
    description:
      'Read the output and the state of a command that start_command started. Returns the output after the position `after`, by default the end of the output.  ' +
      'Each result names the position for the next call. Use waitMs to wait for new output instead of calling again and again.',
    parameters: Parameters,
    effect: 'read',
    network: false,
    timeoutMs: BACKGROUND_LIMITS.waitMsMax + MARGIN_MS,
    execute: (parameters: Parameters, context: ToolContext) => read(parameters, context, background),
  });
}

async function read({ id, after, waitMs = 0 }: Parameters, context: ToolContext, background: BackgroundCommands): Promise<string> {
  const command = await findCommand(background, runOfCall(context), id);
  if (waitMs > 0) context.heartbeat({ waitingFor: nameText(command) });
  const from = after ?? (await outputSize(command.folder));
  const state = await awaitOutput(background, command, { from, waitMs, signal: context.signal });
  const { bytesMax, linesMax } = context.output;
  const part = await readOutput(command.folder, { from: after, bytesMax: bytesMax - HEADER_BYTES });
  const page = pageOf(part, { isTail: after === undefined, isOver: state.kind === 'ended', linesMax: linesMax - 2 });
  return resultText(command, state, page);
}

/** Finds a command of a run. Throws `NOT_FOUND` with those that there are. */
export async function findCommand(background: BackgroundCommands, run: CommandRun, id: string): Promise<BackgroundCommand> {
  const command = await background.find(run, id);
  if (command) return command;
  const all = await Promise.all(
    (await background.list(run)).map(async (each) => `${nameText(each)} ${stateText(each, await background.stateOf(each))}`),
  );
  const known = all.length === 0 ? 'this run has started none' : `there are: ${all.join(', ')}`;
  throw new Error(`NOT_FOUND: no background command ${JSON.stringify(id)}; ${known}`);
}
