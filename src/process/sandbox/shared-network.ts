import { execFile } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { promisify } from 'node:util';
import { SANDBOX_LIMITS } from '../../contracts/constants/limits.js';
import { SYSTEM_PATH } from '../command-sandbox.js';
import { processState } from '../process-identity.js';
import type { ProcessOrder } from '../process-tree.js';

/** A network namespace that the commands of one run share, named by a process in it. */
export interface SharedNetwork {
  readonly pid: number;
  /** When the process started, as in `ProcessIdentity`. */
  readonly start: string;
  /** The number of the namespace, by which a command checks that it is in this one. */
  readonly inode: string;
}

/** How a command gets its network: a new namespace that other commands can join, or that of a live command. */
export type NetworkSharing = { readonly kind: 'create' } | { readonly kind: 'join'; readonly network: SharedNetwork };

/** The programs end with the process that starts them. The kernel keeps this order over the new user namespace. */
const DIE = ['setpriv', '--pdeathsig', 'SIGKILL'] as const;

/** Non-root users can own a network namespace only in a user namespace. The sandbox makes another one in it, without its rights. */
const USERS = ['--user', '--map-current-user', '--keep-caps'] as const;

/** The shell stays: it is the process by which other commands find the namespace, and SIGTERM is for the command. */
const CREATE = `
ip link set lo up 2> /dev/null || ifconfig lo up 2> /dev/null || { echo 'SANDBOX: no loopback: neither ip nor ifconfig works here'; exit 125; }
trap : TERM
setpriv --ambient-caps=-all --inh-caps=-all "$@"
exit $?
`;

/** The check cannot be cheated: a pid that was reused leads to another namespace. */
const JOIN = `
[ "$(readlink /proc/self/ns/net)" = "net:[$1]" ] || { echo 'SANDBOX: the network of this run is gone'; exit 125; }
shift
trap : TERM
"$@"
exit $?
`;

let found: Promise<boolean> | undefined;

/** True if this machine lets the worker's user make such a namespace. Tried once per process. Never rejects. */
export function canShareNetwork(): Promise<boolean> {
  found ??= tryOrder();
  return found;
}

async function tryOrder(): Promise<boolean> {
  const [program, ...args] = inNetwork(['true'], { kind: 'create' });
  const options = { env: { PATH: SYSTEM_PATH }, timeout: SANDBOX_LIMITS.probeTimeoutMs, killSignal: 'SIGKILL' } as const;
  return await promisify(execFile)(program, args, options).then(
    () => true,
    () => false,
  );
}

/** What starts a command in a shared network. Its order has no network of its own. */
export function inNetwork(argv: ProcessOrder['argv'], sharing: NetworkSharing): ProcessOrder['argv'] {
  const isRoot = process.getuid?.() === 0;
  if (sharing.kind === 'create') {
    return [...DIE, 'unshare', ...(isRoot ? [] : USERS), '--net', '--', 'sh', '-c', CREATE, 'perdure', ...argv];
  }
  const { pid, inode } = sharing.network;
  const users = isRoot ? [] : ['--user', '--preserve-credentials'];
  return [...DIE, 'nsenter', '--target', String(pid), ...users, '--net', '--', 'sh', '-c', JOIN, 'perdure', inode, ...argv];
}

/** The network of a process, if it has one that is not that of this process. Never throws. */
export function networkOf(pid: number): SharedNetwork | undefined {
  const state = processState(pid);
  const [own, its] = [inodeOf('self'), inodeOf(pid)];
  return state.kind === 'running' && its !== undefined && its !== own ? { pid, start: state.start, inode: its } : undefined;
}

/** True while the process of a network lives, and is in it. Never throws. */
export function isLiveNetwork(network: SharedNetwork): boolean {
  const now = networkOf(network.pid);
  return now !== undefined && now.start === network.start && now.inode === network.inode;
}

function inodeOf(pid: number | 'self'): string | undefined {
  try {
    return /^net:\[(?<inode>\d+)\]$/u.exec(readlinkSync(`/proc/${pid}/ns/net`))?.groups?.['inode'];
  } catch {
    // the process is gone, or there are no namespaces here
    return undefined;
  }
}
