import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { TOOL_LIMITS, WORKER_LIMITS, WORKSPACE_LIMITS } from '../contracts/constants/limits.js';
import { defineTool, type OutputCollector, type ToolContext, type ToolDefinition } from '../define/define-tool.js';
import { formatBytes } from '../output/truncate-output.js';
import { commandSandbox } from '../process/command-sandbox.js';
import { type ProcessTreeEnd, runProcessTree } from '../process/process-tree.js';
import { type Jail, openJail, STATE_FOLDER_NAME } from './workspace/jail.js';

const SECOND_MS = 1_000;

const Parameters = z.strictObject({
  command: z
    .string()
    .max(WORKSPACE_LIMITS.commandCharsMax, `is longer than ${WORKSPACE_LIMITS.commandCharsMax} characters: write a script file and run it`)
    .refine((command) => command.trim() !== '' && !command.includes('\0'), 'is empty or contains a NUL character')
    .describe('Shell command, run in the workspace folder.'),
  timeoutMs: z
    .number()
    .int()
    .min(TOOL_LIMITS.timeoutMsMin)
    .max(WORKSPACE_LIMITS.commandTimeoutMsMax)
    .optional()
    .describe(`Timeout in milliseconds. Default ${TOOL_LIMITS.timeoutMsDefault}.`),
});
type Parameters = z.infer<typeof Parameters>;

/**
 * Runs a shell command. A non-zero exit code, a timeout and too much output are failed results that contain the output so far.
 * `timeoutMs` of the definition is the longest timeout that a model can set, plus the time to stop all processes.
 */
export const runCommand: ToolDefinition<Parameters> = defineTool({
  name: 'run_command',
  description:
    'Run a shell command in the workspace folder and wait until it exits. Returns the exit code, then standard output and standard error combined. ' +
    `Long output is cut to its end, or to its beginning and end if the end looks like an error or a result. There is no input and no terminal: use options such as --yes instead of prompts. ` +
    'Each call starts a new shell: cd and variables do not persist, and background processes are killed when the command exits. ' +
    `The command is stopped after timeoutMs (default ${TOOL_LIMITS.timeoutMsDefault / SECOND_MS} s, at most ${WORKSPACE_LIMITS.commandTimeoutMsMax / SECOND_MS} s) or after ${formatBytes(WORKSPACE_LIMITS.commandOutputBytesMax)} of output.`,
  parameters: Parameters,
  effect: 'once',
  timeoutMs: WORKSPACE_LIMITS.commandTimeoutMsMax + TOOL_LIMITS.killGraceMs + 3 * SECOND_MS,
  execute: async ({ command, timeoutMs = TOOL_LIMITS.timeoutMsDefault }: Parameters, context: ToolContext) => {
    const jail = await openJail(context.workspace);
    const sandbox = await commandSandbox();
    const output = context.output.collect();
    const end = await runProcessTree({
      command,
      sandbox,
      folder: jail.root,
      hidden: hiddenFolders(jail),
      timeoutMs,
      signal: context.signal,
      output,
      outputBytesMax: WORKSPACE_LIMITS.commandOutputBytesMax,
      onOutput: showProgress(context, output),
    });
    const text = (await output.finish(status(end, { timeoutMs, isSilent: output.bytes === 0 }))).trimEnd();
    if (end.endedBy === 'itself' && end.exitCode === 0) return text;
    throw new Error(text);
  },
});

function hiddenFolders(jail: Jail): string[] {
  return [...new Set([jail.stateFolder, join(jail.root, STATE_FOLDER_NAME)])].filter((folder) => existsSync(folder));
}

/** The first line of the result. It is first so that a truncated display still shows how the command ended. */
function status({ endedBy, exitCode }: ProcessTreeEnd, { timeoutMs, isSilent }: { timeoutMs: number; isSilent: boolean }): string {
  const printed = isSilent ? '; no output' : '';
  if (endedBy === 'itself') return `exit code ${exitCode}${printed}`;
  const stopped = {
    timeout: `timed out after ${timeoutMs / SECOND_MS}s`,
    output: `stopped after ${formatBytes(WORKSPACE_LIMITS.commandOutputBytesMax)} of output`,
    abort: 'stopped before it finished',
  }[endedBy];
  return `${stopped}; the command and all its processes were killed${printed}`;
}

/** Reports the size and the last line of the output in heartbeats. */
function showProgress(context: ToolContext, output: OutputCollector): () => void {
  let shownAt = 0;
  return () => {
    if (Date.now() - shownAt < WORKER_LIMITS.heartbeatEveryMs) return;
    shownAt = Date.now();
    context.heartbeat({ outputBytes: output.bytes, lastLine: output.lastLine().slice(0, 200) });
  };
}
