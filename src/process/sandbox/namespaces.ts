import { SHELLS, SYSTEM_PATH } from '../command-sandbox.js';
import type { ProcessOrder } from '../process-tree.js';
import { limitLine } from './limits.js';
import { bridgeTo, sandboxEnvironment } from './network-bridge.js';
import { CAPABILITIES, CLOSE_DESCRIPTORS, type CommandView, hasOwnNetwork, KERNEL_SETTINGS, type Sandbox } from './sandbox.js';

/**
 * Runs as process 1 of the namespaces, while the system of the host is still visible, and builds what the command sees:
 *
 * 1. A loopback of its own, without which programs that talk to themselves do not run.
 * 2. A stage, which keeps the folders that stay writable, and the devices, while everything else is made read-only or covered.
 * 3. An empty `/tmp` and `/run`: sockets of daemons (tmux, ssh-agent, docker, gpg, dbus) are in them.
 * 4. The shown and the writable folders again, then the covers of what the command may not see.
 * 5. The settings of the kernel in `/proc`, read-only: root could write them.
 *
 * The command is a child, because process 1 ignores signals without a handler. The handler of TERM lets the signal end the command and not
 * this shell. Messages of the shell itself (`Terminated`) are not part of the output.
 */
const SCRIPT = `
CLOSE_DESCRIPTORS
trap : TERM
command=$1 search=$2 folder=$3 network=$4 socket=$5 stage=$6 node=$7 user=$8 loopback=$9; shift 9
give_up() { echo "SANDBOX: $1"; exit 125; }
apart() { exec setpriv --ambient-caps=-all --inh-caps=-all --bounding-set=-all,${CAPABILITIES.map((name) => `+${name}`).join(',')} --no-new-privs "$@"; }
inner() { mount "$@" || give_up "mount $* failed"; }
# with a user namespace of its own, a command has all capabilities in it; for root, the setting is that of the host
[ "$user" = root ] || echo 0 > /proc/sys/user/max_user_namespaces || give_up 'user namespaces cannot be forbidden'
if [ "$loopback" = own ]; then
  ip link set lo up || ifconfig lo up || give_up 'no loopback: neither ip nor ifconfig works here'
fi
inner -t tmpfs -o mode=755 perdure "$stage"
cat /proc/self/mountinfo > "$stage/mounts"
cat /etc/resolv.conf > "$stage/resolv.conf" 2>/dev/null
: > "$stage/empty"
mkdir "$stage/dev"
inner -t tmpfs -o mode=755 perdure "$stage/dev"
for name in null zero full random urandom tty; do : > "$stage/dev/$name"; inner --bind "/dev/$name" "$stage/dev/$name"; done
mkdir "$stage/dev/pts" "$stage/dev/shm"
inner -t devpts -o newinstance,ptmxmode=0666,mode=0620 perdure "$stage/dev/pts"
inner -t tmpfs -o mode=1777,nosuid,nodev perdure "$stage/dev/shm"
ln -s pts/ptmx "$stage/dev/ptmx"; ln -s /proc/self/fd "$stage/dev/fd"
ln -s fd/0 "$stage/dev/stdin"; ln -s fd/1 "$stage/dev/stdout"; ln -s fd/2 "$stage/dev/stderr"
number=0
for entry in "$@"; do
  case $entry in
    show:*|rw:*) path=\${entry#*:} number=$((number + 1))
      if [ -d "$path" ]; then mkdir "$stage/$number"; else : > "$stage/$number"; fi
      inner --rbind "$path" "$stage/$number" ;;
  esac
done
while read -r _ _ _ _ point options _; do
  case $point in /proc|/proc/*|"$stage") continue ;; *\\\\*) point=$(printf "$(printf %s "$point" | sed 's/%/%%/g')") ;; esac
  case $options in ro|ro,*) continue ;; esac
  mount -o "remount,bind,ro\${options#rw}" "$point" 2>/dev/null || mount -t tmpfs -o ro,size=4k perdure "$point" 2>/dev/null || [ ! -e "$point" ] ||
    give_up "$point cannot be made read-only"
done < "$stage/mounts"
inner -t tmpfs -o mode=1777,nosuid,nodevSIZE perdure /tmp
[ ! -d /var/tmp ] || [ -L /var/tmp ] || inner --bind /tmp /var/tmp
if [ -d /run ]; then
  resolver=$(readlink -f /etc/resolv.conf)
  inner -t tmpfs -o mode=755,nosuid,nodev perdure /run
  case $resolver in /run/*) mkdir -p "\${resolver%/*}" && cat "$stage/resolv.conf" > "$resolver" ;; esac
fi
number=0
for entry in "$@"; do
  path=\${entry#*:}
  case $entry in
    rw:*) number=$((number + 1))
      if [ -d "$stage/$number" ]; then mkdir -p "$path"; else mkdir -p "\${path%/*}" && : >> "$path"; fi
      inner --rbind "$stage/$number" "$path" ;;
    show:*) number=$((number + 1)); mkdir -p "$path"; inner --bind "$stage/$number" "$path"; inner -o remount,bind,ro "$path" ;;
    ro:*) inner --bind "$path" "$path"; inner -o remount,bind,ro "$path" ;;
    hide:*)
      if [ -d "$path" ]; then inner -t tmpfs -o ro,size=4k,mode=755 perdure "$path"
      elif [ -e "$path" ]; then inner --bind "$stage/empty" "$path"; inner -o remount,bind,ro "$path"; fi ;;
  esac
done
for path in ${KERNEL_SETTINGS.join(' ')}; do
  [ ! -e "/proc/$path" ] || { mount --bind "/proc/$path" "/proc/$path" && mount -o remount,bind,ro "/proc/$path"; } 2>/dev/null
done
if [ "$network" = proxy ]; then
  mkfifo "$stage/ready"
  apart "$node" -e 'BRIDGE' "$socket" > "$stage/ready" 2>/dev/null &
  read -r _ < "$stage/ready" || give_up 'the way to the proxy does not open'
fi
inner --move "$stage/dev" /dev
case $stage in /dev/*) ;; *) inner -t tmpfs -o ro,size=4k perdure "$stage" ;; esac
cd "$folder" || give_up "the folder $folder is gone"
LIMITS
exec 9>&ERRORS 2>/dev/null
(exec 2>&9 9>&-; apart env PATH="$search" SHELL -- "$command")
exit $?
`;

/** Folders that can carry the stage. It is covered or unreachable when the command starts. */
export const STAGES = ['/dev/shm', '/mnt', '/media', '/srv'] as const;

/** The options of `unshare`, in order of preference: for root, and for other users, who need a user namespace. */
export const UNSHARE_OPTIONS = [[], ['--user', '--map-current-user', '--keep-caps']] as const;

/** What distinguishes the namespaces of one machine from those of another. */
export interface NamespaceOptions {
  readonly shell: 'bash' | 'sh';
  readonly unshare: readonly string[];
  /** Those of `STAGES` that exist here. */
  readonly stages: readonly string[];
}

/** The sandbox of `unshare` and `setpriv`, which every Linux distribution has in util-linux. */
export function namespaceSandbox({ shell, unshare, stages }: NamespaceOptions): Sandbox {
  const script = SCRIPT.replace('SHELL', SHELLS[shell].join(' ')).replace('CLOSE_DESCRIPTORS', () => CLOSE_DESCRIPTORS[shell]);
  const user = unshare.length === 0 ? 'root' : 'other';
  return {
    kind: 'unshare',
    shell,
    order: (
      command: string,
      { folder, network, shown, writable, readOnly, hidden, limits, isGrouped = false, isServer }: CommandView,
    ): ProcessOrder => {
      const apart = ['--mount', '--pid', '--ipc', '--uts', ...(hasOwnNetwork(network) ? ['--net'] : [])];
      const socket = network.kind === 'proxy' ? network.socket : '';
      const environment = sandboxEnvironment(network);
      // what is below the stage cannot be kept on it
      const stage = stages.find((path) => !writable.some((other) => `${other}/`.startsWith(`${path}/`)));
      if (stage === undefined) throw new Error(`SANDBOX: all of ${stages.join(', ')} contain writable paths of this command`);
      const kept = [...writable, ...(socket === '' ? [] : [socket])];
      const entries = [...shown.map((path) => `show:${path}`), ...kept.map((path) => `rw:${path}`)];
      const size = limits ? `,size=${limits.memoryBytes}` : '';
      const limited = script
        .replace('SIZE', size)
        .replace('BRIDGE', () => bridgeTo(network))
        .replace('LIMITS', limitLine(limits, shell, isGrouped))
        .replace('ERRORS', isServer ? '2' : '1');
      const place = [folder, network.kind, socket, stage, process.execPath, user, hasOwnNetwork(network) ? 'own' : 'given'];
      const inside = [...SHELLS[shell], limited, 'perdure', command, environment['PATH'] ?? SYSTEM_PATH, ...place];
      return {
        argv: [
          ...(['setpriv', '--pdeathsig', 'SIGKILL', 'unshare', ...unshare, ...apart, '--mount-proc', '--fork', '--kill-child'] as const),
          ...inside,
          ...entries,
          ...readOnly.map((path) => `ro:${path}`),
          ...hidden.map(({ path }) => `hide:${path}`),
        ],
        environment: { ...environment, PATH: SYSTEM_PATH },
        isWatched: false,
      };
    },
  };
}
