import type { AnyToolDefinition } from '../define/define-tool.js';
import { createEditFile } from './edit-file.js';
import { listFiles } from './list-files.js';
import { MEMORY_TOOLS } from './memory/memory-tools.js';
import { READ_ARTIFACT } from './read-artifact.js';
import { readFile } from './read-file.js';
import { READ_SKILL } from './read-skill.js';
import { createRunCommand, type RunCommandOptions } from './run-command.js';
import { searchFiles } from './search-files.js';
import { updatePlan } from './update-plan.js';
import { createWriteFile } from './write-file.js';

/** Creates the tools of a run with a workspace, in the order in which the model sees them. */
export function createWorkspaceTools(options: RunCommandOptions): readonly AnyToolDefinition[] {
  const { protected: paths } = options;
  return [readFile, createWriteFile(paths), createEditFile(paths), listFiles, searchFiles, createRunCommand(options)];
}

/** The same tools of a worker with the default sandbox, for checks of names and schemas. */
export const WORKSPACE_TOOLS: readonly AnyToolDefinition[] = createWorkspaceTools({ sandbox: {}, protected: [] });

/** The names of all built-in tools. They are reserved; agents may list and block them. */
export const BUILT_IN_TOOLS: readonly string[] = [
  ...[...WORKSPACE_TOOLS, updatePlan].map(({ name }) => name),
  READ_ARTIFACT,
  READ_SKILL,
  ...MEMORY_TOOLS,
];
