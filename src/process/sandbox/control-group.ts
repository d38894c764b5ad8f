import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SANDBOX_LIMITS } from '../../contracts/constants/limits.js';
import type { CommandLimits, LimitName } from './limits.js';

/** What the kernel calls the limits, in one version of control groups. */
interface GroupFiles {
  readonly memory: readonly (readonly [file: string, value: (limits: CommandLimits) => string])[];
  /** Has a line `oom_kill N`. */
  readonly memoryEvents: string;
}

const VERSION_1: GroupFiles = {
  memory: [
    ['memory.limit_in_bytes', (limits) => `${limits.memoryBytes}`],
    // exists only where swap is counted
    ['memory.memsw.limit_in_bytes', (limits) => `${limits.memoryBytes}`],
  ],
  memoryEvents: 'memory.oom_control',
};
const VERSION_2: GroupFiles = {
  memory: [
    ['memory.max', (limits) => `${limits.memoryBytes}`],
    ['memory.swap.max', () => '0'],
    // a command without one of its processes is of no use
    ['memory.oom.group', () => '1'],
  ],
  memoryEvents: 'memory.events',
};

/** Where this worker can make groups: the folder of each controller, one folder for both in version 2. */
interface Parents {
  readonly files: GroupFiles;
  readonly memory: string;
  readonly pids: string;
}

/** The control group of one command. */
export interface ControlGroup {
  /** The program and arguments that enter the group, and then run those given. */
  enter(argv: readonly [string, ...string[]]): readonly [string, ...string[]];
  /** Ends what is left in the group, and removes it. Returns the limits that it reached. Never rejects. */
  close(): Promise<readonly LimitName[]>;
}

const NAME = 'perdure-';
const REMOVE_MS_MAX = 300;
const REMOVE_EVERY_MS = 5;

const ENTER = `
while [ "$1" != -- ]; do echo $$ > "$1" || { echo 'SANDBOX: the control group of the command is gone'; exit 125; }; shift; done
shift
exec "$@"
`;

let parents: Promise<Parents | undefined> | undefined;

/**
 * Makes a control group with the limits of memory and processes. Undefined where this worker cannot: without the right to write to
 * `/sys/fs/cgroup`, or to a part of it that is delegated to its user.
 */
export async function openControlGroup(limits: CommandLimits): Promise<ControlGroup | undefined> {
  parents ??= findParents();
  const found = await parents;
  if (!found) return undefined;
  const name = NAME + randomUUID();
  const [memory, pids] = [join(found.memory, name), join(found.pids, name)];
  const folders = [...new Set([memory, pids])];
  const group: ControlGroup = {
    enter: (argv) => ['sh', '-c', ENTER, 'perdure', ...folders.map((folder) => join(folder, 'cgroup.procs')), '--', ...argv],
    close: async () => {
      const kills = await count(join(memory, found.files.memoryEvents), 'oom_kill');
      const refused = await count(join(pids, 'pids.events'), 'max');
      await Promise.all(folders.map(remove));
      return [...(kills > 0 ? ['memoryBytes' as const] : []), ...(refused > 0 ? ['processes' as const] : [])];
    },
  };
  try {
    for (const folder of folders) await mkdir(folder);
    await writeFile(join(pids, 'pids.max'), `${limits.processes}`);
    const [[file, value], ...others] = found.files.memory as [GroupFiles['memory'][number], ...GroupFiles['memory']];
    await writeFile(join(memory, file), value(limits));
    for (const [other, of] of others) await writeFile(join(memory, other), of(limits)).catch(() => undefined);
    return group;
  } catch {
    await group.close();
    return undefined;
  }
}

async function findParents(): Promise<Parents | undefined> {
  for (const found of [await parentOfVersion2(), await parentsOfVersion1()]) {
    if (!found) continue;
    await Promise.all([...new Set([found.memory, found.pids])].map(removeOld));
    if (await canMake(found)) return found;
  }
  return undefined;
}

/** The nearest group above the worker whose children have both controllers: a group with processes of its own gives them to none. */
async function parentOfVersion2(): Promise<Parents | undefined> {
  const own = await ownFolder('cgroup2', '');
  for (let folder = own; folder !== undefined && folder.length > 1; folder = dirname(folder)) {
    const given = await readFile(join(folder, 'cgroup.subtree_control'), 'utf8').catch(() => undefined);
    if (given === undefined) return undefined;
    const controllers = given.trim().split(' ');
    if (!controllers.includes('memory') || !controllers.includes('pids')) continue;
    const found = { files: VERSION_2, memory: folder, pids: folder };
    if (await canMake(found)) return found;
  }
  return undefined;
}

async function parentsOfVersion1(): Promise<Parents | undefined> {
  const [memory, pids] = [await ownFolder('cgroup', 'memory'), await ownFolder('cgroup', 'pids')];
  return memory === undefined || pids === undefined ? undefined : { files: VERSION_1, memory, pids };
}

/** The folder of the group of this process. `controller`: empty in version 2, which has one hierarchy for all. */
async function ownFolder(type: 'cgroup' | 'cgroup2', controller: string): Promise<string | undefined> {
  const [mounts, groups] = await Promise.all(
    ['/proc/self/mounts', '/proc/self/cgroup'].map((file) => readFile(file, 'utf8').catch(() => '')),
  );
  const mount = (mounts ?? '').split('\n').find((line) => {
    const [, , kind, options = ''] = line.split(' ');
    return kind === type && (controller === '' || options.split(',').includes(controller));
  });
  const own = (groups ?? '').split('\n').find((line) => line.split(':')[1]?.split(',').includes(controller));
  const [, point] = mount?.split(' ') ?? [];
  if (point === undefined || own === undefined) return undefined;
  const folder = join(point, own.split(':').slice(2).join(':'));
  // in a container, the path may be that of the host
  return (await isThere(folder)) ? folder : point;
}

async function canMake({ memory, pids }: Parents): Promise<boolean> {
  const name = NAME + randomUUID();
  try {
    for (const folder of new Set([memory, pids])) {
      await mkdir(join(folder, name));
      await rmdir(join(folder, name));
    }
    return true;
  } catch {
    // no right to
    return false;
  }
}

/** Removes the groups of workers that died. One with a process in it stays. */
async function removeOld(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith(NAME)) continue;
    const age = Date.now() - ((await stat(join(folder, name)).catch(() => undefined))?.mtimeMs ?? Number.POSITIVE_INFINITY);
    if (age > SANDBOX_LIMITS.groupAgeMs) await rmdir(join(folder, name)).catch(() => undefined);
  }
}

async function remove(folder: string): Promise<void> {
  const until = Date.now() + REMOVE_MS_MAX;
  // version 2 only; a process namespace ended all of it already
  await writeFile(join(folder, 'cgroup.kill'), '1', { flag: 'r+' }).catch(() => undefined);
  while (await isThere(folder)) {
    if (Date.now() > until) return;
    await rmdir(folder).catch(() => delay(REMOVE_EVERY_MS));
  }
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

/** The number behind a name in a file of lines. 0 if there is none. */
async function count(file: string, name: string): Promise<number> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.split(' ')[1] ?? 0);
}
