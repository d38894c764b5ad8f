import { z } from 'zod';
import { TOOL_LIMITS, WORKER_LIMITS, WORKSPACE_LIMITS } from '../contracts/constants/limits.js';
import { SECOND_MS } from '../contracts/constants/units.js';
import { defineTool, type OutputCollector, type ToolContext, type ToolDefinition } from '../define/define-tool.js';
import type { SandboxDefinition } from '../define/worker/sandbox.js';
import { formatBytes } from '../output/truncate-output.js';
import { type ProcessTreeEnd, runProcessTree } from '../process/process-tree.js';
import type { BackgroundCommands } from './commands/background-commands.js';
import { runOfCall } from './commands/command-record.js';
import { type BoundsOptions, openBounds } from './workspace/command-bounds.js';
import { writablePaths } from './workspace/command-view.js';
import { openJail } from './workspace/jail.js';
import { limitsText, reachedBy, refusalText } from './workspace/report-text.js';
import { ShellCommand } from './workspace/shell-command.js';

const Parameters = z.strictObject({
  command: ShellCommand,
  timeoutMs: z
    .number()
    .int()
    .min(TOOL_LIMITS.timeoutMsMin)
    .max(WORKSPACE_LIMITS.commandTimeoutMsMax)
    .optional()
    .describe(`Timeout in milliseconds. Default ${TOOL_LIMITS.timeoutMsDefault}.`),
});
type Parameters = z.infer<typeof Parameters>;

/** What the owner of the worker decides about commands. */
export interface RunCommandOptions extends Pick<BoundsOptions, 'sandbox' | 'protected'> {
  /** The background commands, whose network a command of the same run shares. @default none */
  readonly background?: BackgroundCommands | undefined;
}

/**
 * Creates the tool that runs a shell command in a sandbox. A non-zero exit code, a timeout and too much output are failed results that
 * contain the output so far. `timeoutMs` of the definition is the longest timeout that a model can set, plus the time to stop all processes.
 */
export function createRunCommand(options: RunCommandOptions): ToolDefinition<Parameters> {
  const writable = writablePaths(options.sandbox.writable ?? []);
  return defineTool({
    name: 'run_command',
    description: `${DESCRIPTION} ${abilities(options.sandbox)}`,
    parameters: Parameters,
    effect: 'once',
    timeoutMs: WORKSPACE_LIMITS.commandTimeoutMsMax + TOOL_LIMITS.killGraceMs + 3 * SECOND_MS,
    execute: async (parameters: Parameters, context: ToolContext) =>
      await run(parameters, context, { ...options, writable: await writable, ...(await withBackground(options, context)) }),
  });
}

const DESCRIPTION =
  'Run a shell command in the workspace folder and wait until it exits. Returns the exit code, then standard output and standard error combined. ' +
  `Long output is cut to its end, or to its beginning and end if the end looks like an error or a result. There is no input and no terminal: use options such as --yes instead of prompts. ` +
  'Each call starts a new shell: cd and variables do not persist, and background processes are killed when the command exits. ' +
  `The command is stopped after timeoutMs (default ${TOOL_LIMITS.timeoutMsDefault / SECOND_MS} s, at most ${WORKSPACE_LIMITS.commandTimeoutMsMax / SECOND_MS} s) or after ${formatBytes(WORKSPACE_LIMITS.commandOutputBytesMax)} of output.`;

/** Tells the model what a command can do, so that it does not try the rest. */
function abilities({ mode, image, network = 'none' }: SandboxDefinition): string {
  if (mode === 'none') return '';
  const reach = {
    none: 'no network',
    host: 'the network',
    allow: typeof network === 'object' ? `HTTP access to ${network.allow.join(', ')} only` : '',
  }[typeof network === 'object' ? 'allow' : network];
  const system = image === undefined ? '' : ` The system is that of the image ${image}.`;
  const own = mode === 'seatbelt' ? '$TMPDIR' : '/tmp';
  return `It can write in the workspace and in ${own}, which is new for each call, and has ${reach}.${system}`;
}

/** What a command shares with the background commands of its run and of its workspace. */
async function withBackground({ background }: RunCommandOptions, context: ToolContext): Promise<Pick<BoundsOptions, 'before' | 'sharing'>> {
  const network = await background?.network(runOfCall(context));
  return {
    before: background && ((root) => background.before(root)),
    sharing: network && { kind: 'join', network },
  };
}

async function run(
  { command, timeoutMs = TOOL_LIMITS.timeoutMsDefault }: Parameters,
  context: ToolContext,
  options: BoundsOptions,
): Promise<string> {
  const jail = await openJail(context.workspace);
  const bounds = await openBounds(jail, options);
  const output = context.output.collect();
  const running = bounds.order(command).then((order) =>
    runProcessTree({
      order,
      folder: jail.root,
      timeoutMs,
      signal: context.signal,
      output,
      outputBytesMax: WORKSPACE_LIMITS.commandOutputBytesMax,
      onOutput: showProgress(context, output),
    }),
  );
  // the bounds are closed whatever happened
  const [ended] = await Promise.allSettled([running]);
  const report = await bounds.close();
  const end = ended.status === 'fulfilled' ? ended.value : await running;
  const isContained = bounds.kind === 'container' && end.endedBy === 'itself';
  const first =
    status(end, { timeoutMs, isSilent: output.bytes === 0 }) +
    limitsText(reachedBy(report, { ...end, isContained }, output), bounds.limits) +
    refusalText(report.refused);
  const text = (await output.finish(first)).trimEnd();
  if (end.endedBy === 'itself' && end.exitCode === 0 && report.refused.length === 0) return text;
  throw new Error(text);
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
