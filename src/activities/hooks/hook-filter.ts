import { isAbsolute, posix } from 'node:path';
import { matchesName } from '../../contracts/text/wildcard.js';
import type { HookContext, HookDefinition } from '../../define/define-hook.js';
import { compileGlob, type GlobMatch } from '../../tools/workspace/glob.js';

/** The call that a filter is applied to. */
export type FilteredCall = Pick<HookContext, 'tool' | 'args' | 'workspace'>;

/**
 * The filter of a hook: names and globs of tools, and globs of the call's `path` or `file_path` relative to the workspace. An empty filter
 * matches every call; a path filter matches no call without a path. In doubt it matches, because a hook that does not run cannot refuse: a
 * path outside of the workspace may lead into it through a link, and a value that is not text may be converted to one. Never throws.
 */
export function hookFilter({ tools = [], paths = [] }: Pick<HookDefinition, 'tools' | 'paths'>): (call: FilteredCall) => boolean {
  const globs = paths.map(pathFilter);
  const meansTool = (tool: string): boolean => tools.length === 0 || tools.some((pattern) => matchesName(pattern, tool));
  const meansPath = (call: FilteredCall): boolean => globs.length === 0 || pathsOf(call).some((path) => globs.some((glob) => glob(path)));
  return (call) => meansTool(call.tool ?? '') && meansPath(call);
}

/** A normalized path: relative to the workspace, or, outside of it, absolute without the first slash. */
interface CallPath {
  readonly inside: boolean;
  readonly path: string;
}

function pathFilter(glob: string): (called: CallPath | 'no text') => boolean {
  const matches = compileGlob(glob);
  const matchesEnd: GlobMatch = compileGlob(glob.includes('/') ? `**/${glob.replace(/^\.?\//u, '')}` : glob);
  return (called) => called === 'no text' || matches(called.path) || (!called.inside && matchesEnd(called.path));
}

function pathsOf({ args, workspace }: FilteredCall): (CallPath | 'no text')[] {
  if (args === null || typeof args !== 'object' || Array.isArray(args)) return [];
  const given = [args['path'], args['file_path']].filter((path) => path !== undefined);
  return given.map((path) => (typeof path === 'string' ? callPath(path, workspace) : 'no text'));
}

function callPath(path: string, workspace: string | undefined): CallPath {
  const meant = workspace === undefined ? posix.normalize(path) : posix.relative(workspace, posix.resolve(workspace, path));
  if (!isAbsolute(meant) && meant !== '..' && !meant.startsWith('../')) return { inside: true, path: meant };
  return { inside: false, path: posix.resolve(workspace ?? '/', path).slice(1) };
}
