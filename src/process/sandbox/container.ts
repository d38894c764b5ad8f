import { randomUUID } from 'node:crypto';
import { SANDBOX_LIMITS } from '../../contracts/constants/limits.js';
import { SECOND_MS } from '../../contracts/constants/units.js';
import { commandEnvironment, SYSTEM_PATH } from '../command-sandbox.js';
import type { ProcessOrder } from '../process-tree.js';
import type { CommandLimits } from './limits.js';
import { BRIDGE, BRIDGE_PORT, proxyVariables } from './network-bridge.js';
import type { CommandView, Sandbox } from './sandbox.js';

/** A program that runs containers. */
export interface ContainerEngine {
  readonly name: 'podman' | 'docker';
  /** Absolute path. */
  readonly program: string;
}

/** What distinguishes the containers of one worker. */
export interface ContainerOptions {
  readonly engine: ContainerEngine;
  /** The name of an image that the engine has. It needs `sh`, and `node` or `socat` where the network has a proxy. */
  readonly image: string;
  /** The ids of the worker's user, who owns the workspace. Undefined on Windows. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
}

/**
 * Runs outside. The engine's client gets the worker's pipe as input: it breaks when the worker dies, or when the call is over, and the
 * command with it. SIGTERM reaches the command through the client.
 */
const OUTSIDE = `exec "$@" <&3 3<&-`;

/**
 * Runs in the container, below its init. The watcher ends all processes when the input closes: a container does not end with its client.
 * The command itself has no input.
 */
const INSIDE = `
command=$1 socket=$2
exec 3<&0 < /dev/null
(trap '' TERM; while read -r _; do :; done; kill -KILL -1) <&3 > /dev/null 2>&1 &
exec 3<&-
if [ -n "$socket" ]; then
  if command -v node > /dev/null; then
    mkfifo /tmp/.ready && { node -e '${BRIDGE}' "$socket" > /tmp/.ready 2> /dev/null & read -r _ < /tmp/.ready; rm /tmp/.ready; }
  elif command -v socat > /dev/null; then
    socat TCP-LISTEN:${BRIDGE_PORT},bind=127.0.0.1,fork,reuseaddr UNIX-CONNECT:"$socket" > /dev/null 2>&1 &
  else
    echo 'SANDBOX: the image has neither node nor socat, which the allowed hosts need'; exit 125
  fi
fi
exec sh -c "$command" 2>&1
`;

/** Of the worker's environment: how the client finds its engine. */
const ENGINE_VARIABLES = ['HOME', 'XDG_RUNTIME_DIR', 'DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG', 'DOCKER_TLS_VERIFY'] as const;
const MORE_ENGINE_VARIABLES = ['DOCKER_CERT_PATH', 'CONTAINER_HOST', 'CONTAINER_CONNECTION', 'CONTAINERS_CONF'] as const;

/** The sandbox of a container for each command, made by podman or docker. Its image is the system that the command sees. */
export function containerSandbox({ engine, image, user }: ContainerOptions): Sandbox {
  return {
    kind: 'container',
    shell: 'sh',
    order: (command, view): ProcessOrder => {
      const name = `perdure-${randomUUID()}`;
      const socket = view.network.kind === 'proxy' ? view.network.socket : '';
      const run = [engine.program, 'run', ...containerArguments({ name, view, user, engine })];
      return {
        argv: ['sh', '-c', OUTSIDE, 'perdure', ...run, '--entrypoint', 'sh', image, '-c', INSIDE, 'perdure', command, socket],
        environment: { ...engineEnvironment(process.env), PATH: SYSTEM_PATH },
        isWatched: true,
        afterwards: [engine.program, 'rm', '--force', '--volumes', name],
      };
    },
  };
}

/** What the arguments of a container depend on. */
export interface ContainerRun {
  readonly name: string;
  readonly view: CommandView;
  readonly user: ContainerOptions['user'];
  readonly engine: ContainerEngine;
}

/** The options of `run` for one command. Pure. Throws `SANDBOX` for a path that no option can name. */
export function containerArguments({ name, view, user, engine }: ContainerRun): readonly string[] {
  const { folder, network, limits } = view;
  const memory = limits ? `,size=${limits.memoryBytes}` : '';
  return [
    ['--name', name, '--rm', '--init', '--interactive', '--pull', 'never', '--log-driver', 'none'],
    ['--network', network.kind === 'host' ? 'host' : 'none', '--ipc', 'private'],
    ['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    user ? ['--user', `${user.uid}:${user.gid}`] : [],
    // without root, podman maps the user to root of the container
    user && user.uid !== 0 && engine.name === 'podman' ? ['--userns', 'keep-id'] : [],
    ['--tmpfs', `/tmp:rw,exec,nosuid,nodev,mode=1777${memory}`, '--tmpfs', `/run:rw,nosuid,nodev,mode=755,size=64k`],
    limitArguments(limits),
    mounts(view),
    Object.entries(variables(view)).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
    ['--workdir', folder],
  ].flat();
}

function limitArguments(limits: CommandLimits | undefined): readonly string[] {
  if (!limits) return [];
  const { processes, memoryBytes, cpuMs, fileBytes, openFiles } = limits;
  const seconds = Math.ceil(cpuMs / SECOND_MS);
  // the kernel kills at the hard limit, and only the signal of the soft one names the reason
  const ofProcess = [
    `cpu=${seconds}:${seconds + SANDBOX_LIMITS.cpuGraceMs / SECOND_MS}`,
    `fsize=${fileBytes}`,
    `nofile=${openFiles}`,
    'core=0',
  ];
  const ofAll = ['--pids-limit', `${processes}`, '--memory', `${memoryBytes}b`, '--memory-swap', `${memoryBytes}b`];
  return [...ofAll, ...ofProcess.flatMap((limit) => ['--ulimit', limit])];
}

/** Only the workspace and the paths of `writable` are in the container. The engine mounts what is deeper later. */
function mounts({ writable, readOnly, hidden, network }: CommandView): readonly string[] {
  const isInside = (path: string): boolean => writable.some((other) => path === other || path.startsWith(`${other}/`));
  return [
    ...writable.map((path) => bind(path)),
    ...(network.kind === 'proxy' ? [bind(network.socket)] : []),
    ...readOnly.filter(isInside).map((path) => `${bind(path)},readonly`),
    ...hidden.filter(({ path, isFolder }) => !isFolder && isInside(path)).map(({ path }) => `${bind('/dev/null', path)},readonly`),
  ]
    .flatMap((mount) => ['--mount', mount])
    .concat(
      hidden
        .filter(({ path, isFolder }) => isFolder && isInside(path))
        .flatMap(({ path }) => ['--tmpfs', `${named(path)}:ro,size=4k,mode=755`]),
    );
}

function bind(from: string, to = from): string {
  return `type=bind,source=${named(from)},target=${named(to)}`;
}

/** A path for an option, whose parts end with these characters. */
function named(path: string): string {
  if (/[,:"\n]/u.test(path))
    throw new Error(`SANDBOX: ${JSON.stringify(path)} contains a character that no option of a container can name`);
  return path;
}

/** The variables of the command. `PATH` is that of the image, whose home folders belong to others. */
function variables({ network }: CommandView): Readonly<Record<string, string>> {
  const { PATH: _, HOME: __, TMPDIR: ___, ...own } = commandEnvironment(process.env);
  return { ...own, HOME: '/tmp', ...proxyVariables(network) };
}

/** How the client of an engine finds it, of an environment. */
export function engineEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const names = [...ENGINE_VARIABLES, ...MORE_ENGINE_VARIABLES];
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
