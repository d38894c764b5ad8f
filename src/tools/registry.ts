import type { AnyToolDefinition } from '../define/define-tool.js';
import { editFile } from './edit-file.js';
import { listFiles } from './list-files.js';
import { readFile } from './read-file.js';
import { runCommand } from './run-command.js';
import { searchFiles } from './search-files.js';
import { writeFile } from './write-file.js';

/** The tools of a run with a workspace, in the order in which the model sees them. */
export const WORKSPACE_TOOLS: readonly AnyToolDefinition[] = [readFile, writeFile, editFile, listFiles, searchFiles, runCommand];
