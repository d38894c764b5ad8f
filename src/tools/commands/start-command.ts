import { z } from 'zod';
import { BACKGROUND_LIMITS } from '../../contracts/constants/limits.js';
import { defineTool, type Reconciled, type ToolContext, type ToolDefinition } from '../../define/define-tool.js';
import type { SandboxDefinition } from '../../define/worker/sandbox.js';
import { canShareNetwork, type NetworkSharing } from '../../process/sandbox/shared-network.js';
import { writablePaths } from '../workspace/command-view.js';
import { type Jail, openJail } from '../workspace/jail.js';
import { type GuardedCall, guardCall, type ProtectedPaths, UNGUARDED } from '../workspace/protected-paths.js';
import { ShellCommand } from '../workspace/shell-command.js';
import { awaitOutput } from './await-output.js';
import type { BackgroundCommand, BackgroundCommands } from './background-commands.js';
import { type CommandRun, commandId, runOfCall } from './command-record.js';
import { isGood, pageOf, resultText } from './command-text.js';
import type { HolderOrder } from './hold-command.js';
import { readOutput } from './output-files.js';

/** What the owner of the worker decides about background commands. */
export interface StartCommandOptions {
  readonly sandbox: SandboxDefinition;
  readonly protected: ProtectedPaths;
  readonly background: BackgroundCommands;
}

/** The name of the tool. */
export const START_COMMAND = 'start_command';

const Parameters = z.strictObject({
  command: ShellCommand,
  name: z
    .string()
    .regex(/^[\w.-]+$/u, 'may contain letters, digits, dots, dashes and underscores')
    .max(BACKGROUND_LIMITS.nameCharsMax)
    .optional()
    .describe('Short name of your choice, such as dev-server.'),
});
type Parameters = z.infer<typeof Parameters>;

const DESCRIPTION =
  'Start a shell command in the workspace folder that keeps running, such as a dev server or a watcher. Returns its id, and its first output or its end. ' +
  'Read its output with command_output, and end it with stop_command. It has the sandbox and the limits of run_command, cannot write to .git, has no input, and is stopped at the end of the run. ' +
  `At most ${BACKGROUND_LIMITS.liveOfRunMax} commands run at a time.`;

/** Creates the tool that starts a command which outlives its call, and the worker. */
export function createStartCommand(options: StartCommandOptions): ToolDefinition<Parameters> {
  const writable = writablePaths(options.sandbox.writable ?? []);
  return defineTool({
    name: START_COMMAND,
    description: `${DESCRIPTION}${sharesPorts(options.sandbox) ? ' Commands of this run reach its ports on 127.0.0.1.' : ''}`,
    parameters: Parameters,
    effect: 'once',
    timeoutMs: BACKGROUND_LIMITS.startMsMax + BACKGROUND_LIMITS.firstOutputMs + MARGIN_MS,
    execute: async (parameters: Parameters, context: ToolContext) =>
      await start(parameters, context, { ...options, writable: await writable }),
    reconcile: (_: Parameters, context: ToolContext) => reconcile(context, options.background),
  });
}

const MARGIN_MS = 10_000;

async function start(
  parameters: Parameters,
  context: ToolContext,
  { background, ...options }: StartCommandOptions & { readonly writable: readonly string[] },
): Promise<string> {
  const jail = await openJail(context.workspace);
  const run = runOfCall(context);
  const guard = await guardStart(jail, options, background);
  try {
    const { marks, folders } = guard.before;
    const order: HolderOrder = {
      folder: background.folderOf(run, commandId(context)),
      record: {
        v: 1,
        id: commandId(context),
        run,
        ...parameters,
        workspace: jail.root,
        startedAt: Date.now(),
        protected: [...options.protected],
        before: { marks: [...marks], folders: [...folders] },
      },
      bounds: { sandbox: options.sandbox, writable: options.writable },
      sharing: await sharingOf(run, options.sandbox, background),
      outputBytesMax: BACKGROUND_LIMITS.outputBytesMax,
      lifetimeMs: BACKGROUND_LIMITS.lifetimeMsMax,
    };
    await context.assertOwned();
    await background.start(order, context.signal);
  } finally {
    await guard.finish();
  }
  const command = await background.find(run, commandId(context));
  if (!command) throw new Error('FAILED: the command was not started: its files are missing');
  return await firstResult(command, context, background);
}

/** The state of protected files at the start of the oldest command. In mode `none`, nothing is protected from commands. */
async function guardStart(
  jail: Jail,
  { sandbox, protected: entries }: Pick<StartCommandOptions, 'sandbox' | 'protected'>,
  background: BackgroundCommands,
): Promise<GuardedCall> {
  return sandbox.mode === 'none' ? UNGUARDED : await guardCall(jail, entries, background.before(jail.root));
}

/** Commands of a run share a network, so that one reaches the server that another one started. */
async function sharingOf(run: CommandRun, sandbox: SandboxDefinition, background: BackgroundCommands): Promise<NetworkSharing | undefined> {
  if (!sharesPorts(sandbox) || sandbox.network === 'host') return undefined;
  const network = await background.network(run);
  if (network) return { kind: 'join', network };
  return (await canShareNetwork()) ? { kind: 'create' } : undefined;
}

/** True where commands of a run can reach the ports of others: in Linux namespaces, and where they have the network of the host. */
function sharesPorts({ mode = 'namespaces', network }: SandboxDefinition): boolean {
  return mode === 'namespaces' || mode === 'none' || network === 'host';
}

/** The result of a start: the first output, or how it ended at once. Throws if it failed. */
async function firstResult(command: BackgroundCommand, context: ToolContext, background: BackgroundCommands): Promise<string> {
  const { firstOutputMs, settleMs } = BACKGROUND_LIMITS;
  const { signal } = context;
  const first = await awaitOutput(background, command, { from: 0, waitMs: firstOutputMs, signal });
  const toEnd = { from: Number.POSITIVE_INFINITY, waitMs: settleMs, signal };
  const state = first.kind === 'ended' ? first : await awaitOutput(background, command, toEnd);
  const part = await readOutput(command.folder, { from: 0, bytesMax: context.output.bytesMax - HEADER_BYTES });
  const page = pageOf(part, { isTail: false, isOver: state.kind === 'ended', linesMax: context.output.linesMax - 2 });
  const text = resultText(command, state, page);
  if (!isGood(state)) throw new Error(text);
  return text;
}

/** Room for the first line of a result. */
const HEADER_BYTES = 2_000;

/** A call whose worker was lost started its command if there is a record of it. */
async function reconcile(context: ToolContext, background: BackgroundCommands): Promise<Reconciled> {
  const run = runOfCall(context);
  const command = await background.find(run, commandId(context));
  if (command) return { kind: 'done', result: await firstResult(command, context, background).catch(textOf) };
  return (await background.isStarting(run, commandId(context))) ? { kind: 'unknown' } : { kind: 'not_started' };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
