import { constants } from 'node:fs';
import { chmod, lstat, open, readdir, readlink, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { hasErrno } from '../../contracts/files/file-errors.js';
import { isWithin, type Jail, STATE_FOLDER_NAME } from './jail.js';
import { asWorkspaceError, WorkspaceError } from './workspace-error.js';

/**
 * What only the owner of a project changes, because it decides what runs outside the sandbox: absolute paths of files, and `FOLDER/*.md` for
 * the agent files of a folder. The repository's own files (`.git`) are always among them.
 */
export type ProtectedPaths = readonly string[];

/** The protected files at one time. Links are not followed: a link is an entry of its own. */
export interface ProtectedState {
  /** The names that exist, each with what tells its entry from another one. */
  readonly marks: ReadonlyMap<string, string>;
  /** Folders of agent files: nothing can be added to them. */
  readonly folders: readonly string[];
}

const AGENTS = `${sep}*.md`;

/** Of a repository: what names programs that git starts, or leads to it. */
const GIT_PARTS = ['hooks', 'config', 'config.worktree', 'commondir', 'modules'] as const;

/** What makes a Markdown file an agent, as its reader sees it: after a byte order mark, with either line end. */
const FRONT_MATTER = /^(?:\uFEFF)?---\r?\n/u;
const FRONT_MATTER_BYTES = 8;

/** True for a path that tools cannot write. */
export function isProtected(jail: Jail, path: string, entries: ProtectedPaths): boolean {
  const parts = relative(jail.root, path).toLowerCase().split(sep);
  if (parts.includes('.git')) return true;
  return entries.some((entry) => (isAgents(entry) ? path.endsWith('.md') && dirname(path) === folderOf(entry) : path === entry));
}

/** Looks which protected names exist. */
export async function protectedState(jail: Jail, entries: ProtectedPaths): Promise<ProtectedState> {
  const agents = (await Promise.all(entries.filter(isAgents).map((entry) => agentFiles(folderOf(entry))))).flat();
  const files = entries.filter((entry) => !isAgents(entry));
  const git = join(jail.root, '.git');
  const named = [...files, ...agents, ...GIT_PARTS.map((name) => join(git, name))].map(async (path) => [path, await markIn(path)] as const);
  // these are whole: what matters is that they stay the same folder
  const whole = [git, join(jail.root, STATE_FOLDER_NAME)].map(async (path) => [path, await markOf(path)] as const);
  const marks = new Map((await Promise.all([...named, ...whole])).filter(([, mark]) => mark !== ''));
  return { marks, folders: [...new Set(agents.map(dirname))] };
}

/**
 * The states that running calls of a workspace began with. They share one, so that none takes what another one wrote for the owner's. Workers
 * that protect other files share none: what one of them does not protect would be new to the other.
 */
const running = new Map<string, { readonly before: Promise<ProtectedState>; calls: number }>();

/** One call that may change protected files. */
export interface GuardedCall {
  readonly before: ProtectedState;
  /**
   * Renames what was put in a protected place, so that nothing reads it: an entry that was not there before, or is another one now. A
   * repository that the call made is its own. Returns the names, relative to the workspace. Rejects if one cannot be renamed.
   */
  finish(): Promise<readonly string[]>;
}

/** A call that nothing limits. */
export const UNGUARDED: GuardedCall = { before: { marks: new Map(), folders: [] }, finish: () => Promise.resolve([]) };

/**
 * Notes the protected files before a call. `given`: what they were when a command began that still runs, in another process. Throws DENIED
 * if the worker cannot read where they may be.
 */
export async function guardCall(jail: Jail, entries: ProtectedPaths, given?: Promise<ProtectedState | undefined>): Promise<GuardedCall> {
  const key = JSON.stringify([jail.root, entries]);
  const shared = running.get(key) ?? { before: beforeCall(jail, entries, given), calls: 0 };
  running.set(key, shared);
  shared.calls += 1;
  const leave = (): void => {
    shared.calls -= 1;
    if (shared.calls === 0) running.delete(key);
  };
  try {
    const before = await shared.before;
    return {
      before,
      finish: async () => {
        try {
          return await refuseReplaced(jail, await protectedState(jail, entries), before);
        } finally {
          leave();
        }
      },
    };
  } catch (error) {
    leave();
    throw error;
  }
}

async function beforeCall(
  jail: Jail,
  entries: ProtectedPaths,
  given: Promise<ProtectedState | undefined> | undefined,
): Promise<ProtectedState> {
  return (await given) ?? (await protectedState(jail, entries));
}

/** Renames what is not as it was before, except in `covered` paths. Returns the names, relative to the workspace. */
export async function refuseReplaced(
  jail: Jail,
  now: ProtectedState,
  before: ProtectedState,
  covered: readonly string[] = [],
): Promise<readonly string[]> {
  const git = join(jail.root, '.git');
  const isOwnRepository = !before.marks.has(git);
  const replaced = [...now.marks].flatMap(([path, mark]) => {
    const isCovered = covered.some((cover) => isWithin(cover, path));
    const isOwn = !isWithin(jail.root, path) || isCovered || (isOwnRepository && isWithin(git, path));
    return isOwn || before.marks.get(path) === mark ? [] : [path];
  });
  // of a repository that was exchanged, the whole
  const whole = replaced.includes(git) ? replaced.filter((path) => path === git || !isWithin(git, path)) : replaced;
  for (const [index, path] of whole.entries()) await setAside(path, index);
  return whole.map((path) => relative(jail.root, path));
}

/** Renames an entry, not what it links to. The new name is short and no longer that of an agent or a config. */
async function setAside(path: string, index: number): Promise<void> {
  const aside = join(dirname(path), `.refused-${Date.now()}-${index}`);
  try {
    await rename(path, aside);
  } catch (error) {
    // the guard of another command was faster
    if (hasErrno(error, 'ENOENT')) return;
    // a command may have closed the folder to its owner
    await chmod(dirname(path), 0o755);
    await rename(path, aside).catch(() => rm(path, { recursive: true }));
  }
}

const isAgents = (entry: string): boolean => entry.endsWith(AGENTS);
const folderOf = (entry: string): string => entry.slice(0, -AGENTS.length);

/**
 * The agent files of a folder, and every link with such a name: what it leads to may become one. Throws DENIED for a folder that the worker
 * cannot read: a command could open it to itself.
 */
async function agentFiles(folder: string): Promise<readonly string[]> {
  const found = (await ifThere(folder, readdir(folder, { withFileTypes: true }))) ?? [];
  const paths = found.filter(({ name }) => name.endsWith('.md')).map((entry) => ({ entry, path: join(folder, entry.name) }));
  const isAgent = await Promise.all(
    paths.map(async ({ entry, path }) => entry.isSymbolicLink() || (entry.isFile() && (await hasFrontMatter(path)))),
  );
  return paths.flatMap(({ path }, index) => (isAgent[index] ? [path] : []));
}

async function hasFrontMatter(path: string): Promise<boolean> {
  const handle = await ifThere(path, open(path, constants.O_RDONLY | constants.O_NONBLOCK));
  if (!handle) return false;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(FRONT_MATTER_BYTES), 0, FRONT_MATTER_BYTES, 0);
    return FRONT_MATTER.test(buffer.toString('utf8', 0, bytesRead));
  } finally {
    await handle.close();
  }
}

/** Tells an entry by its kind and its folder: its owner may write it meanwhile, and a covered one cannot be exchanged. */
async function markIn(path: string): Promise<string> {
  const stats = await ifThere(path, lstat(path));
  if (!stats) return '';
  if (stats.isSymbolicLink()) return `link ${stats.ino} ${await readlink(path)}`;
  return `${stats.isFile() ? 'file' : 'folder'} in ${await markOf(dirname(path))}`;
}

/** Tells an entry from another one of the same name. Empty if there is none. */
export async function markOf(path: string): Promise<string> {
  const stats = await ifThere(path, lstat(path));
  return stats ? `${stats.dev}:${stats.ino}:${stats.mode & 0o170000}` : '';
}

/** What was found at a path; undefined if there is nothing. Throws DENIED if it is not known whether there is. */
async function ifThere<T>(path: string, looking: Promise<T>): Promise<T | undefined> {
  try {
    return await looking;
  } catch (error) {
    if (hasErrno(error, 'ENOENT') || hasErrno(error, 'ENOTDIR')) return undefined;
    const { message } = asWorkspaceError(error, basename(path));
    throw new WorkspaceError('DENIED', `what only the owner of this project changes is not readable for this worker: ${message}`, {
      cause: error,
    });
  }
}
