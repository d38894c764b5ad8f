import { SHELLS, SYSTEM_PATH } from '../command-sandbox.js';
import type { ProcessOrder } from '../process-tree.js';
import { limitLine } from './limits.js';
import { BRIDGE, BRIDGE_PORT, sandboxEnvironment } from './network-bridge.js';
import { type CommandView, type Sandbox } from './sandbox.js';

/** Where macOS has temporary folders. */
const TEMPORARY = '/private/tmp';

/** The parameter of a profile that names the temporary folder of its command. */
const OWN_FOLDER = '(param "OWN")';

/** Services that nearly every program asks at its start: logs, users and groups, notifications. None of them acts for the command. */
const SERVICES = [
  'com.apple.logd',
  'com.apple.logd.events',
  'com.apple.system.logger',
  'com.apple.diagnosticd',
  'com.apple.system.notification_center',
  'com.apple.system.opendirectoryd.libinfo',
  'com.apple.system.opendirectoryd.membership',
  'com.apple.bsd.dirhelper',
] as const;

/** The services that check certificates. Needed only with a network. */
const TRUST_SERVICES = ['com.apple.trustd', 'com.apple.trustd.agent', 'com.apple.SecurityServer'] as const;

const DEVICES = ['null', 'zero', 'random', 'urandom', 'dtracehelper', 'tty', 'stdout', 'stderr', 'autofs_nowait'] as const;

/**
 * The profile of one command in the language of `sandbox-exec`. Of several rules that match, the last one counts. Pure. The caller sets the
 * parameter OWN to a folder that the command may write.
 */
export function seatbeltProfile({ writable, readOnly, hidden, network }: Omit<CommandView, 'folder'>): string {
  const services = network.kind === 'none' ? SERVICES : [...SERVICES, ...TRUST_SERVICES];
  const covered = [...readOnly, ...hidden.map(({ path }) => path)];
  return [
    '(version 1)',
    '(deny default)',
    '(allow process-exec process-fork)',
    '(allow signal process-info* mach-priv-task-port (target same-sandbox))',
    '(allow sysctl-read user-preference-read ipc-posix-sem ipc-posix-shm* pseudo-tty)',
    rule(
      'allow mach-lookup',
      services.map((name) => `(global-name ${quoted(name)})`),
    ),
    '(allow file-read*)',
    rule('allow file-write*', [...writable.map((path) => `(subpath ${quoted(path)})`), `(subpath ${OWN_FOLDER})`]),
    rule('allow file-write* file-ioctl', [...DEVICES.map((name) => `(literal "/dev/${name}")`), '(regex #"^/dev/fd/[0-9]+$")']),
    '(allow file-read* file-write* file-ioctl (literal "/dev/ptmx") (regex #"^/dev/ttys[0-9]+$"))',
    rule(
      'deny file-write*',
      readOnly.map((path) => `(subpath ${quoted(path)})`),
    ),
    rule(
      'deny file-read* file-write*',
      hidden.map(({ path, isFolder }) => `(${isFolder ? 'subpath' : 'literal'} ${quoted(path)})`),
    ),
    // a folder that is renamed takes what is protected in it along
    rule(
      'deny file-write-unlink',
      foldersOf(covered, writable).map((path) => `(literal ${quoted(path)})`),
    ),
    ...networkRules(network),
    '',
  ]
    .filter((line, index, all) => line !== '' || index === all.length - 1)
    .join('\n');
}

function rule(head: string, filters: readonly string[]): string {
  return filters.length === 0 ? '' : `(${head}\n${filters.map((filter) => `  ${filter}`).join('\n')})`;
}

/** The writable folders that contain a covered path, and those between. */
function foldersOf(covered: readonly string[], writable: readonly string[]): readonly string[] {
  const found = covered.flatMap((path) => {
    const root = writable.find((other) => path.startsWith(`${other}/`));
    if (root === undefined) return [];
    const parts = path.slice(root.length + 1).split('/');
    return [root, ...parts.slice(0, -1).map((_, index) => `${root}/${parts.slice(0, index + 1).join('/')}`)];
  });
  return [...new Set(found)];
}

/** With a proxy, only its port on the loopback: PORT is replaced when the port is known. */
function networkRules({ kind }: CommandView['network']): readonly string[] {
  if (kind === 'none') return [];
  if (kind === 'host') return ['(allow network*)', '(allow system-socket)'];
  return ['(allow network-outbound (remote ip "localhost:PORT"))'];
}

/** A string of the profile language. Throws `SANDBOX` for a path that it cannot hold. */
function quoted(text: string): string {
  if (text.split('').some((char) => char < ' ')) throw new Error(`SANDBOX: ${JSON.stringify(text)} contains a control character`);
  return `"${text.replaceAll(/["\\]/gu, '\\$&')}"`;
}

/**
 * Runs outside of the sandbox. Makes the temporary folder, starts the way to the proxy, which only this command may use, and ends all
 * processes of the group when the worker dies.
 */
const OUTSIDE = `
trap : TERM
(trap '' TERM; read -r _ <&3; kill -KILL 0) > /dev/null 2>&1 &
watcher=$!
exec 9>&ERRORS 3<&- 2> /dev/null
profile=$1 socket=$2 node=$3; shift 3
own=$(mktemp -d TEMPORARY/perdure-XXXXXX) || { echo 'SANDBOX: no temporary folder'; exit 125; }
if [ -n "$socket" ]; then
  "$node" -e 'BRIDGE' "$socket" > "$own/port" 2> /dev/null &
  bridge=$! tries=0
  until port=$(cat "$own/port"); [ -n "$port" ] || [ "$tries" = 100 ]; do sleep 0.05; tries=$((tries + 1)); done
  [ -n "$port" ] || { echo 'SANDBOX: the way to the proxy does not open'; rm -rf "$own"; exit 125; }
  profile=\${profile%PORT*}$port\${profile##*PORT}
  for name in HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy; do export "$name=http://127.0.0.1:$port"; done
fi
(exec 2>&9 9>&-; TMPDIR=$own exec sandbox-exec -D "OWN=$own" -p "$profile" "$@")
code=$?
[ -z "$bridge" ] || kill -KILL "$bridge"
kill -KILL "$watcher"; wait 2> /dev/null
rm -rf "$own"
exit $code
`;

const ANY_PORT_BRIDGE = BRIDGE.replace(
  `createServer(carry).listen(${BRIDGE_PORT}, "127.0.0.1", () => console.log("ready"))`,
  () => 'createServer(carry).listen(0, "127.0.0.1", function () { console.log(this.address().port); })',
);

/** What distinguishes one Mac from another. */
export interface SeatbeltOptions {
  readonly shell: 'bash' | 'sh';
  /** The parent of temporary folders. @default /private/tmp */
  readonly temporary?: string;
}

/** The sandbox of macOS, made by `sandbox-exec`. A command sees the processes and the `/tmp` of the machine; its own folder is `TMPDIR`. */
export function seatbeltSandbox({ shell, temporary = TEMPORARY }: SeatbeltOptions): Sandbox {
  const outside = OUTSIDE.replace('TEMPORARY', temporary).replace('BRIDGE', () => ANY_PORT_BRIDGE);
  return {
    kind: 'seatbelt',
    shell,
    order: (command, view): ProcessOrder => {
      const { network, limits } = view;
      const environment = sandboxEnvironment(network);
      const socket = network.kind === 'proxy' ? network.socket : '';
      const inside = `${limitLine(limits, shell, false)}\nexec env PATH="$1" SHELL -- "$2"`.replace('SHELL', SHELLS[shell].join(' '));
      const inner = [...SHELLS[shell], inside, 'perdure', environment['PATH'] ?? SYSTEM_PATH, command];
      return {
        argv: [
          'sh',
          '-c',
          outside.replace('ERRORS', view.isServer ? '2' : '1'),
          'perdure',
          seatbeltProfile(view),
          socket,
          process.execPath,
          ...inner,
        ],
        environment: { ...environment, PATH: SYSTEM_PATH },
        isWatched: true,
      };
    },
  };
}
