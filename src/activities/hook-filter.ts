import { isAbsolute, posix } from 'node:path';
import { matchesName } from '../contracts/matches-name.js';
import type { HookContext, HookDefinition } from '../define/define-hook.js';
import { compileGlob } from './tools/glob.js';

/** The call that a filter is tested against. */
export type FilteredCall = Pick<HookContext, 'tool' | 'args' | 'workspace'>;

/**
 * The filter of a hook: names and globs of tools, and globs of the call's `path` or `file_path` relative to the workspace. An empty
 * filter matches every call, a filter of paths none that has no path. Never throws.
 */
export function hookFilter({ tools = [], paths = [] }: Pick<HookDefinition, 'tools' | 'paths'>): (call: FilteredCall) => boolean {
  const globs = paths.map(compileGlob);
  const meansTool = (tool: string): boolean => tools.length === 0 || tools.some((pattern) => matchesName(pattern, tool));
  const meansPath = (call: FilteredCall): boolean => globs.length === 0 || pathsOf(call).some((path) => globs.some((glob) => glob(path)));
  return (call) => meansTool(call.tool ?? '') && meansPath(call);
}

function pathsOf({ args, workspace }: FilteredCall): string[] {
  if (args === null || typeof args !== 'object' || Array.isArray(args)) return [];
  return [args['path'], args['file_path']].filter((path) => typeof path === 'string').map((path) => relativePath(path, workspace));
}

/** As globs name it: below the workspace, without `.` and `..`; a path outside of it without its first slash. */
function relativePath(path: string, workspace: string | undefined): string {
  const inside = isAbsolute(path) && workspace !== undefined ? posix.relative(workspace, path) : path;
  const meant = inside.startsWith('../') ? path : inside;
  return posix.normalize(meant).replace(/^\//u, '');
}
