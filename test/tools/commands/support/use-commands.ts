import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { SandboxDefinition } from '../../../../src/define/worker/sandbox.js';
import { toolContext } from '../../../../src/testing/kit/tool-context.js';
import { BackgroundCommands } from '../../../../src/tools/commands/background-commands.js';
import { createCommandOutput } from '../../../../src/tools/commands/command-output.js';
import { createStartCommand } from '../../../../src/tools/commands/start-command.js';
import { createStopCommand } from '../../../../src/tools/commands/stop-command.js';
import { createRunCommand } from '../../../../src/tools/run-command.js';
import { builtFolder } from '../../../support/built-package.js';
import { until } from '../../../support/use-workers.js';
import { textOf } from '../../support/temp-workspace.js';

/** What a test says of its commands. */
export interface CommandsOptions {
  readonly sandbox?: SandboxDefinition;
  /** Of the workspace: what only its owner changes. @default nothing */
  readonly protected?: readonly string[];
  /** @default a folder of its own */
  readonly workspace?: string;
  readonly stateDir?: string;
}

interface OutputOptions {
  readonly after?: number;
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

/** The tools of a worker for one run. Holders are real processes of the build. */
export interface TestCommands {
  readonly root: string;
  readonly stateDir: string;
  readonly commands: BackgroundCommands;
  readonly run: { readonly runId: string; readonly chain: string };
  /** Each call is the next one of the run. */
  readonly start: (command: string, name?: string) => Promise<string>;
  /** Starts one and waits for a text in its output, which the result of a start lacks on a busy machine. Returns the output so far. */
  readonly startUntil: (text: string, command: string, name: string) => Promise<string>;
  readonly output: (id: string, options?: OutputOptions) => Promise<string>;
  readonly stop: (id: string) => Promise<string>;
  readonly runCommand: (command: string) => Promise<string>;
  readonly tools: { readonly start: ReturnType<typeof createStartCommand> };
  readonly context: (key?: string) => ReturnType<typeof toolContext>;
}

/** Makes the tools of a run. All of its commands are ended, and its files removed, after the test. */
export async function useCommands(runId: string, options: CommandsOptions = {}): Promise<TestCommands> {
  const root = options.workspace ?? (await folder('workspace'));
  const stateDir = options.stateDir ?? (await folder('state'));
  const program = join(builtFolder(), 'tools/commands/holder.js');
  const commands = new BackgroundCommands({ stateDir, folder: join(stateDir, 'commands'), program });
  const run = { runId, chain: 'first' };
  onTestFinished(async () => void (await commands.endRun(run)));
  const paths = (options.protected ?? []).map((path) => join(root, path));
  const given = { sandbox: options.sandbox ?? {}, protected: paths, background: commands };
  const tools = {
    start: createStartCommand(given),
    output: createCommandOutput(commands),
    stop: createStopCommand(commands),
    run: createRunCommand(given),
  };
  let calls = 0;
  const context = (key = `${runId}/first/1/${(calls += 1)}`, signal = new AbortController().signal) =>
    toolContext({ runId, workspace: root, idempotencyKey: key, signal });
  const start: TestCommands['start'] = async (command, name) =>
    await textOf(tools.start.execute({ command, ...(name === undefined ? {} : { name }) }, context()));
  const output: TestCommands['output'] = async (id, { signal, ...rest } = {}) =>
    await textOf(tools.output.execute({ id, ...rest }, context(undefined, signal)));
  return {
    root,
    stateDir,
    commands,
    run,
    start,
    startUntil: async (text, command, name) => {
      let printed = await start(command, name);
      await until(
        async () => {
          printed = await output(name, { after: 0 });
          return printed.includes(text);
        },
        `${JSON.stringify(text)} in the output of ${name}`,
      );
      return printed;
    },
    output,
    stop: async (id) => await textOf(tools.stop.execute({ id }, context())),
    runCommand: async (command) => await textOf(tools.run.execute({ command }, context())),
    tools,
    context,
  };
}

async function folder(name: string): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), `perdure-${name}-`)));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}
