import { lstat, readFile, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { CommandNetwork, CommandView, HiddenPath } from '../../process/sandbox/sandbox.js';
import { isWithin, type Jail, STATE_FOLDER_NAME } from './jail.js';
import type { ProtectedState } from './protected-paths.js';
import { WorkspaceError } from './workspace-error.js';

/** Of the home folder: keys, and sockets of agents that use keys. */
const CREDENTIALS = `.ssh .gnupg .aws .azure .kube .docker .netrc .pgpass .git-credentials .npmrc .pypirc .vault-token .config/gcloud
  .config/gh .config/hub .config/git/credentials .config/containers .config/rclone .config/doctl .cargo/credentials
  .cargo/credentials.toml .m2/settings.xml .gradle/gradle.properties .terraform.d .s3cfg .boto .password-store .local/share/keyrings
  .claude .codex .cache/perdure`.split(/\s+/u);

/** What the owner decides about commands. */
export interface CommandRights {
  /** Real paths beside the workspace that stay writable. */
  readonly writable: readonly string[];
  readonly protected: ProtectedState;
  /**
   * True if the whole repository is read-only, for a command that lives long: git replaces its files, and a cover does not outlive the file
   * that it covers. @default false
   */
  readonly coversRepository?: boolean;
}

/** What a command of this workspace sees. Throws DENIED for a workspace that contains the whole system. */
export async function commandView(jail: Jail, rights: CommandRights, network: CommandNetwork): Promise<CommandView> {
  const { root } = jail;
  if (root === '/') throw new WorkspaceError('DENIED', 'the workspace is the root folder; commands need a workspace below it');
  const { marks, folders } = rights.protected;
  const repository = [...marks.keys()].filter((path) => isWithin(join(root, '.git'), path) && path !== join(root, '.git', 'hooks'));
  const { coversRepository = false } = rights;
  const readOnly = (await withoutLinks(repository)).filter(
    ({ path, isFolder }) => path !== join(root, '.git') || !isFolder || coversRepository,
  );
  // what a link of the workspace leads to may be anything
  const covered = [...marks.keys()].filter((path) => !repository.includes(path));
  const own = [jail.stateFolder, join(root, STATE_FOLDER_NAME), ...CREDENTIALS.map((name) => join(homedir(), name))];
  const shown = shownFolders();
  const hidden = [...(await existing(own)), ...(await withoutLinks(covered)), ...(await socketsOutside(root, shown))];
  const view = {
    readOnly: [...readOnly.map(({ path }) => path), ...folders],
    // a workspace in a hidden folder stays visible, and what is in a hidden folder is hidden with it
    hidden: hidden.filter(
      ({ path }) => !isWithin(path, root) && !hidden.some((other) => other.path !== path && isWithin(other.path, path)),
    ),
  };
  const inside = [...view.readOnly, ...view.hidden.map(({ path }) => path)].filter((path) => isWithin(root, path));
  const writable = rights.writable.filter((path) => !isWithin(root, path));
  // a mount cannot be renamed: what is covered stays under its name
  return { folder: root, shown, writable: [root, ...writable, ...foldersAbove(inside, root)], ...view, network };
}

/** The real paths of what the config lists, where it exists, found once: a command could put a link in a place that it may write. */
export async function writablePaths(listed: readonly string[]): Promise<readonly string[]> {
  const paths = (await existing(listed.map((path) => path.replace(/^~(?=\/)/u, homedir())))).map(({ path }) => path);
  return paths.filter((path) => !paths.some((other) => other !== path && isWithin(other, path)));
}

/** The folders between the root and each path, the upper ones first. */
function foldersAbove(paths: readonly string[], root: string): readonly string[] {
  const found = new Set<string>();
  for (const path of paths) for (let folder = dirname(path); folder !== root; folder = dirname(folder)) found.add(folder);
  return [...found].toSorted((a, b) => a.length - b.length);
}

/** The real paths of those that exist, each once. */
async function existing(paths: readonly string[]): Promise<HiddenPath[]> {
  const found = new Map<string, HiddenPath>();
  for (const path of paths) {
    // one that is missing or closed to the worker is so to the command too
    const real = await realpath(path).catch(() => undefined);
    if (real !== undefined) found.set(real, { path: real, isFolder: (await lstat(real)).isDirectory() });
  }
  return [...found.values()];
}

/** Those that exist and are no links. */
async function withoutLinks(paths: readonly string[]): Promise<HiddenPath[]> {
  const found = await Promise.all(paths.map(async (path) => ({ path, stats: await lstat(path).catch(() => undefined) })));
  return found.flatMap(({ path, stats }) => (stats && !stats.isSymbolicLink() ? [{ path, isFolder: stats.isDirectory() }] : []));
}

/** Folders that a command has for itself: what others have in them is out of its sight. */
const OWN_FOLDERS = ['/tmp', '/var/tmp', '/run', '/dev', '/proc'] as const;

/** The worker's folder, if it is below one of them: a project there has its programs in it, as every other project. */
function shownFolders(): readonly string[] {
  const folder = process.cwd();
  return OWN_FOLDERS.some((own) => folder !== own && isWithin(own, folder)) ? [folder] : [];
}

/** The sockets of daemons of this machine, which answer through a read-only file system. */
async function socketsOutside(root: string, shown: readonly string[]): Promise<HiddenPath[]> {
  const isUnseen = (path: string): boolean =>
    OWN_FOLDERS.some((folder) => isWithin(folder, path)) && !shown.some((folder) => isWithin(folder, path));
  const table = await readFile('/proc/net/unix', 'utf8').catch(() => '');
  const named = table.split('\n').flatMap((line) => / (?<path>\/.*)$/u.exec(line)?.groups?.['path'] ?? []);
  const others = new Set(named.filter((path) => !isWithin(root, path) && !isUnseen(path)));
  return (await existing([...others])).filter(({ path, isFolder }) => !isFolder && !isUnseen(path));
}
