import { lstatSync, realpathSync } from 'node:fs';
import { SANDBOX_LIMITS } from '../../contracts/constants/limits.js';
import { findShell } from '../command-sandbox.js';
import { bubblewrapSandbox } from './bubblewrap.js';
import { namespaceSandbox, STAGES, UNSHARE_OPTIONS } from './namespaces.js';
import { probeSandbox } from './probe-sandbox.js';
import type { Sandbox } from './sandbox.js';

let found: Promise<Sandbox | undefined> | undefined;

/**
 * The sandbox of Linux namespaces that works on this machine: of `bwrap`, else of `unshare` and `setpriv`. Tried once per process with a
 * real command. Undefined if neither works, such as in a container without the right to make namespaces. Never rejects.
 */
export function namespaces(): Promise<Sandbox | undefined> {
  found ??= firstThatWorks();
  return found;
}

async function firstThatWorks(): Promise<Sandbox | undefined> {
  for await (const sandbox of working()) return sandbox;
  return undefined;
}

/** All forms that work on this machine, the best one first. */
export async function* working(): AsyncGenerator<Sandbox> {
  if (process.platform !== 'linux') return;
  for (const sandbox of await candidates()) if (await works(sandbox)) yield sandbox;
}

/** All forms, the best one first. */
async function candidates(): Promise<readonly Sandbox[]> {
  const shell = await findShell();
  const own = ['/tmp', '/var/tmp', '/run'].filter(isFolder);
  const bubblewrap = bubblewrapSandbox({ shell, isRoot: process.getuid?.() === 0, own, resolver: realOrSame('/etc/resolv.conf') });
  const stages = STAGES.filter(isFolder);
  return [bubblewrap, ...UNSHARE_OPTIONS.map((unshare) => namespaceSandbox({ shell, unshare, stages }))];
}

/** The claims: the folder is writable, the system is not, a hidden folder stays empty, the network is its own, the users are not. */
async function works(sandbox: Sandbox): Promise<boolean> {
  const claims = [
    '! touch /etc/perdure-probe',
    '! touch hidden/x',
    '[ ! -e hidden/inside ]',
    '! test -w /proc/sys/kernel/core_pattern',
    '[ "$(grep -c : /proc/net/dev)" = 1 ]',
    // for root, nothing forbids it
    ...(process.getuid?.() === 0 ? [] : ['! unshare --user true']),
  ];
  return (await probeSandbox(sandbox, { claims, timeoutMs: SANDBOX_LIMITS.probeTimeoutMs })) === undefined;
}

/** False for a link: what it leads to is a folder of its own. */
function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function realOrSame(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
