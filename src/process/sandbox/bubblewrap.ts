import { SHELLS, SYSTEM_PATH } from '../command-sandbox.js';
import type { ProcessOrder } from '../process-tree.js';
import { limitLine } from './limits.js';
import { bridgeTo, sandboxEnvironment } from './network-bridge.js';
import { CAPABILITIES, CLOSE_DESCRIPTORS, type CommandView, hasOwnNetwork, KERNEL_SETTINGS, type Sandbox } from './sandbox.js';

/** SIGTERM goes to the whole group; bubblewrap would end at once and take the command with it, so only the command hears it. */
const OUTSIDE = `CLOSE_DESCRIPTORS; trap '' TERM; exec "$@"`;

/** Opens the way to the proxy first: its program prints a line when it listens. */
const INSIDE = `
command=$1 socket=$2 node=$3
if [ -n "$socket" ]; then
  mkfifo /dev/shm/ready && { "$node" -e 'BRIDGE' "$socket" > /dev/shm/ready 2>/dev/null & read -r _ < /dev/shm/ready; rm /dev/shm/ready; } ||
    { echo 'SANDBOX: the way to the proxy does not open'; exit 125; }
fi
LIMITS
exec env --default-signal=TERM SHELL -- "$command" ERRORS
`;

/** The whole file system read-only, with devices and processes of the command's own. */
const BASE = ['--die-with-parent', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'] as const;

/** What distinguishes this machine from others. */
export interface BubblewrapOptions {
  readonly shell: 'bash' | 'sh';
  readonly isRoot: boolean;
  /** The folders of other programs that a command has for itself, empty, where they exist: `/tmp`, `/var/tmp`, `/run`. */
  readonly own: readonly string[];
  /** The real path of `/etc/resolv.conf`, which may be in `/run`. */
  readonly resolver: string;
}

/** The sandbox of `bwrap`, a small program that Flatpak brings: faster than `unshare`, because it makes all mounts in one process. */
export function bubblewrapSandbox({ shell, isRoot, own, resolver }: BubblewrapOptions): Sandbox {
  const capabilities = CAPABILITIES.flatMap((name) => ['--cap-add', `CAP_${name.toUpperCase()}`]);
  const before = [...BASE, ...KERNEL_SETTINGS.flatMap((name) => ['--ro-bind-try', `/proc/${name}`, `/proc/${name}`])];
  // with one of its own, a command has all capabilities in it; for root, there is no way to forbid it
  const users = isRoot ? ['--cap-drop', 'ALL', ...capabilities] : ['--unshare-user', '--disable-userns'];
  const outside = OUTSIDE.replace('CLOSE_DESCRIPTORS', () => CLOSE_DESCRIPTORS[shell]);
  const inside = INSIDE.replace('SHELL', SHELLS[shell].join(' '));
  return {
    kind: 'bubblewrap',
    shell,
    order: (
      command: string,
      { folder, network, shown, writable, readOnly, hidden, limits, isGrouped = false, isServer }: CommandView,
    ): ProcessOrder => {
      const socket = network.kind === 'proxy' ? [network.socket] : [];
      const environment = sandboxEnvironment(network);
      const start = ['--setenv', 'PATH', environment['PATH'] ?? SYSTEM_PATH, '--chdir', folder];
      const size = limits ? ['--size', `${limits.memoryBytes}`] : [];
      const script = inside
        .replace('BRIDGE', () => bridgeTo(network))
        .replace('LIMITS', limitLine(limits, shell, isGrouped))
        .replace('ERRORS', isServer ? '' : '2>&1');
      const inner = [...SHELLS[shell], script, 'perdure', command, socket[0] ?? '', process.execPath];
      const spaces = ['--unshare-pid', '--unshare-ipc', '--unshare-uts'];
      return {
        argv: [
          ...([...SHELLS[shell], outside, 'perdure', 'bwrap', ...before, ...spaces, ...users] as const),
          ...own.flatMap((path) => [...size, '--tmpfs', path]),
          ...(network.kind === 'host' ? ['--ro-bind-try', resolver, resolver] : []),
          ...(hasOwnNetwork(network) ? ['--unshare-net'] : []),
          ...shown.flatMap((path) => ['--ro-bind', path, path]),
          ...[...writable, ...socket].flatMap((path) => ['--bind', path, path]),
          ...readOnly.flatMap((path) => ['--ro-bind', path, path]),
          ...hidden.flatMap(({ path, isFolder }) =>
            isFolder ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path],
          ),
          ...start,
          ...inner,
        ],
        environment: { ...environment, PATH: SYSTEM_PATH },
        isWatched: false,
      };
    },
  };
}
