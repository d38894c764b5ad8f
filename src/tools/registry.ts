import type { ToolDescriptor } from '../contracts/schemas/tool.js';
import { ASK_TOOL, SLEEP_TOOL } from '../contracts/text/ids.js';
import type { AnyToolDefinition } from '../define/define-tool.js';
import type { FetchDefinition } from '../define/worker/fetch.js';
import { askUser } from './ask-user.js';
import { createCommandOutput } from './commands/command-output.js';
import { createStartCommand, START_COMMAND, type StartCommandOptions } from './commands/start-command.js';
import { createStopCommand } from './commands/stop-command.js';
import { createEditFile } from './edit-file.js';
import { createFetchUrl, FETCH_URL } from './fetch/fetch-url.js';
import { listFiles } from './list-files.js';
import { MEMORY_TOOLS } from './memory/memory-tools.js';
import { APPLY_PATCH, createApplyPatch } from './patch/apply-patch.js';
import { READ_ARTIFACT } from './read-artifact.js';
import { readFile } from './read-file.js';
import { READ_SKILL } from './read-skill.js';
import { createRunCommand, type RunCommandOptions } from './run-command.js';
import { searchFiles } from './search-files.js';
import { sleep } from './sleep.js';
import { updatePlan } from './update-plan.js';
import { createWriteFile } from './write-file.js';

/** Creates the tools of a run with a workspace, in the order in which the model sees them. */
export function createWorkspaceTools(options: RunCommandOptions): readonly AnyToolDefinition[] {
  const { protected: paths } = options;
  return [readFile, createWriteFile(paths), createEditFile(paths), listFiles, searchFiles, createRunCommand(options)];
}

/** A tool that only agents that list it are offered. */
export interface ListedTool {
  readonly tool: AnyToolDefinition;
  /** True if it works in the run's workspace. */
  readonly workspace: boolean;
  /** For a tool whose calls the workflow answers. */
  readonly waits?: NonNullable<ToolDescriptor['waits']>;
}

/** What the owner of the worker decides about the tools that agents list. */
export interface ListedToolsOptions extends StartCommandOptions {
  readonly fetch: FetchDefinition;
}

/** Creates the tools that only agents that list them are offered. */
export function createListedTools(options: ListedToolsOptions): readonly ListedTool[] {
  const { background } = options;
  const ofCommands = [createStartCommand(options), createCommandOutput(background), createStopCommand(background)];
  return [
    { tool: createApplyPatch(options.protected), workspace: true },
    { tool: createFetchUrl(options.fetch), workspace: false },
    ...ofCommands.map((tool) => ({ tool, workspace: true })),
    { tool: askUser, workspace: false, waits: 'question' },
    { tool: sleep, workspace: false, waits: 'sleep' },
  ];
}

/** The workspace tools of a worker with the default sandbox, for checks of names and schemas. */
export const WORKSPACE_TOOLS: readonly AnyToolDefinition[] = createWorkspaceTools({ sandbox: {}, protected: [] });

/** The names of the tools of background commands. */
const COMMAND_TOOLS = [START_COMMAND, 'command_output', 'stop_command'] as const;

/** The names of all built-in tools. They are reserved; agents may list and block them. */
export const BUILT_IN_TOOLS: readonly string[] = [
  ...[...WORKSPACE_TOOLS, updatePlan].map(({ name }) => name),
  APPLY_PATCH,
  FETCH_URL,
  ...COMMAND_TOOLS,
  ASK_TOOL,
  SLEEP_TOOL,
  READ_ARTIFACT,
  READ_SKILL,
  ...MEMORY_TOOLS,
];
