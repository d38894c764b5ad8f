import { isAbsolute, relative, resolve, sep } from 'node:path';
import { PerdureError } from '../../contracts/perdure-error.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { checkWorkspace } from './workspace.js';

/** The folder that a client of others may name folders in. */
export interface WorkspaceRoot {
  /** The real path of the workspace that a client asks for. Throws `WORKSPACE` (exit 2), also for a folder outside of the root. */
  readonly workspaceOf: (requested: string | undefined) => Promise<string | undefined>;
}

/**
 * The root that `--workspace` gives: runs that name no folder work in it. Without the option it is the current folder, and such runs have
 * no workspace; the root folder and the home folder then count as none, because every folder is inside. Throws `WORKSPACE` (exit 2).
 */
export async function openWorkspaceRoot(given: string | undefined): Promise<WorkspaceRoot> {
  const root = given === undefined ? await currentFolder() : await checkWorkspace(given, { iKnow: false });
  return {
    async workspaceOf(requested) {
      if (requested === undefined) return given === undefined ? undefined : root;
      if (root === undefined) throw refusal(requested, 'cannot be used: the server was started without --workspace');
      // before the disk is asked, which would tell what exists elsewhere
      if (!isInside(root, resolve(root, requested))) throw outside(requested, root);
      const real = await checkWorkspace(requested, { iKnow: false, cwd: root });
      if (!isInside(root, real)) throw outside(requested, root);
      return real;
    },
  };
}

async function currentFolder(): Promise<string | undefined> {
  try {
    return await checkWorkspace('.', { iKnow: false });
  } catch (error) {
    if (error instanceof PerdureError) return undefined;
    throw error;
  }
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function outside(requested: string, root: string): PerdureError {
  return refusal(requested, `is outside of ${root}, the folder of this server`);
}

function refusal(requested: string, problem: string): PerdureError {
  return new PerdureError('WORKSPACE', `${echoValue(requested)} ${problem}`, 2);
}
