import { z } from 'zod';
import { BACKGROUND_LIMITS, TOOL_LIMITS } from '../../contracts/constants/limits.js';
import { defineTool, type ToolContext, type ToolDefinition } from '../../define/define-tool.js';
import type { BackgroundCommands } from './background-commands.js';
import { CommandName, findCommand } from './command-output.js';
import { runOfCall } from './command-record.js';
import { nameText, stateText } from './command-text.js';

const Parameters = z.strictObject({ id: CommandName });
type Parameters = z.infer<typeof Parameters>;

/** Creates the tool that ends a background command with all its processes. */
export function createStopCommand(background: BackgroundCommands): ToolDefinition<Parameters> {
  return defineTool({
    name: 'stop_command',
    description:
      'Stop a command that start_command started, with all its processes. They get SIGTERM, and SIGKILL 2 s later. Its output can still be read.',
    parameters: Parameters,
    effect: 'idempotent',
    network: false,
    timeoutMs: TOOL_LIMITS.killGraceMs + 3 * BACKGROUND_LIMITS.endMsMax,
    execute: (parameters: Parameters, context: ToolContext) => stop(parameters, context, background),
  });
}

async function stop({ id }: Parameters, context: ToolContext, background: BackgroundCommands): Promise<string> {
  const command = await findCommand(background, runOfCall(context), id);
  const { found, now } = await background.stop(command, 'stop_command');
  const name = nameText(command);
  if (found.kind === 'ended') return `${name}: it was not running: ${stateText(command, found)}`;
  if (now.kind === 'running') throw new Error(`FAILED: ${name} still runs: its holder on another host does not answer`);
  return `${name}: ${stateText(command, now)}`;
}
