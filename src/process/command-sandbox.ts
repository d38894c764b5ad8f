import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SANDBOX_LIMITS } from '../contracts/constants/limits.js';

/**
 * The isolation of commands.
 * `namespace`: a process namespace that the kernel ends with the worker. No process can leave it, signals reach no process outside,
 * other processes are invisible, and the state folder is hidden.
 * `process-group`: a process group with a watcher that kills it when the worker dies. A child that creates its own session (`setsid`)
 * escapes, `kill -9 -1` reaches all processes of the user, and the state folder is not hidden.
 */
export interface CommandSandbox {
  readonly kind: 'namespace' | 'process-group';
  readonly shell: 'bash' | 'sh';
  /** The program and arguments to start; the command and the folders to hide are appended. */
  readonly argv: readonly string[];
  /** Why this machine has no namespace, for a process group in its place. */
  readonly problem?: string;
}

/** How a shell starts. With a socket as its input, bash would read `~/.bashrc`. */
export const SHELLS = { bash: ['bash', '--norc', '-c'], sh: ['sh', '-c'] } as const;

/** The options of `unshare`, in order of preference: for root, and for other users, who need a user namespace. */
const UNSHARE_OPTIONS = [['--mount'], ['--user', '--map-current-user', '--keep-caps', '--mount']] as const;

/** The dropped capabilities: without them, a command cannot unmount the cover of the state folder, trace processes or access devices. */
const DROPPED = '-sys_admin,-sys_ptrace,-sys_module,-sys_rawio,-sys_boot,-sys_time,-mknod,-dac_read_search';

/**
 * Runs as process 1 of the namespace. Hides the folders first. The command is a child, because process 1 ignores signals without a
 * handler. The handler of TERM lets the signal end the command and not this shell. Messages of the shell itself (`Terminated`) are
 * not part of the output.
 */
const NAMESPACE_SCRIPT = `
trap : TERM
command=$1; shift
for folder in "$@"; do mount -t tmpfs -o ro,size=4k perdure "$folder" || exit 125; done
exec 2>/dev/null
(exec 2>&1; exec setpriv --ambient-caps=-all --inh-caps=-all --bounding-set=${DROPPED} --no-new-privs SHELL "$command")
exit $?
`;

/** The watcher reads descriptor 3, which the worker holds open. When the worker dies, the descriptor closes and the watcher kills the group. */
const GROUP_SCRIPT = `
trap : TERM
(trap '' TERM; read -r _ <&3; kill -KILL 0) >/dev/null 2>&1 &
exec 3<&- 2>/dev/null
(exec 2>&1; exec SHELL "$1")
code=$?
kill -KILL $!; wait $!
exit $code
`;

let sandbox: Promise<CommandSandbox> | undefined;

/** The strongest sandbox that this machine supports. Probed once per process with a real command. Never throws. */
export function commandSandbox(): Promise<CommandSandbox> {
  sandbox ??= findSandbox();
  return sandbox;
}

/** The `process-group` sandbox. Works with any POSIX shell. */
export async function processGroupSandbox(): Promise<CommandSandbox> {
  const shell = await findShell();
  return { kind: 'process-group', shell, argv: ['sh', '-c', GROUP_SCRIPT.replace('SHELL', SHELLS[shell].join(' ')), 'perdure'] };
}

async function findSandbox(): Promise<CommandSandbox> {
  const shell = await findShell();
  let problem: string | undefined = 'only Linux has process namespaces';
  for (const options of process.platform === 'linux' ? UNSHARE_OPTIONS : []) {
    const argv = namespaceArgv(options, shell);
    problem = await problemOfHiding(argv);
    if (problem === undefined) return { kind: 'namespace', shell, argv };
  }
  return { ...(await processGroupSandbox()), problem };
}

function namespaceArgv(options: readonly string[], shell: CommandSandbox['shell']): string[] {
  const unshare = ['unshare', ...options, '--pid', '--mount-proc', '--fork', '--kill-child'];
  return [
    'setpriv',
    '--pdeathsig',
    'SIGKILL',
    ...unshare,
    'sh',
    '-c',
    NAMESPACE_SCRIPT.replace('SHELL', SHELLS[shell].join(' ')),
    'perdure',
  ];
}

/** bash, or else sh. */
export async function findShell(): Promise<'bash' | 'sh'> {
  return (await problemOf([...SHELLS.bash, ':'])) === undefined ? 'bash' : 'sh';
}

/** Probes the namespace: a folder must be hidden and stay hidden, and only processes of the namespace may be visible. */
async function problemOfHiding(argv: readonly string[]): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'perdure-probe-'));
  try {
    return await problemOf([...argv, `! umount "${folder}" 2>/dev/null && ! touch "${folder}/x" 2>/dev/null && [ "$PPID" = 1 ]`, folder]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Why a command does not succeed, in one line; undefined if it does. */
async function problemOf(argv: readonly string[]): Promise<string | undefined> {
  const [program = '', ...args] = argv;
  const timeout = SANDBOX_LIMITS.probeTimeoutMs;
  const env = { ...commandEnvironment(process.env), PATH: SYSTEM_PATH };
  return await new Promise((resolve) => {
    execFile(program, args, { timeout, killSignal: 'SIGKILL', env }, (error, _stdout, stderr) => {
      if (!error) return resolve(undefined);
      const [line] = stderr.trim().split('\n');
      const reason = error.killed ? `no end within ${timeout} ms` : `${program}: ${error.message}`;
      resolve(line === undefined || line === '' ? reason : line.slice(0, PROBLEM_CHARS_MAX));
    });
  });
}

const PROBLEM_CHARS_MAX = 200;

/** The environment variables that a command receives. Provider keys are never among them. */
const ALLOWED: ReadonlySet<string> = new Set(['PATH', 'HOME', 'LANG', 'TMPDIR', 'TERM', 'TZ']);

/**
 * Where the programs that make a sandbox are looked up. The worker's own PATH may name folders that a command can write, such as
 * `node_modules/.bin`: it is for commands only.
 */
export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin';

/** The environment of a command: only PATH, HOME, LANG, LC_*, TMPDIR, TERM and TZ of the worker. */
export function commandEnvironment(own: NodeJS.ProcessEnv): Record<string, string> {
  const allowed = Object.entries(own).flatMap(([name, value]) =>
    value !== undefined && (ALLOWED.has(name) || name.startsWith('LC_')) ? [[name, value] as const] : [],
  );
  return { PATH: SYSTEM_PATH, ...Object.fromEntries(allowed) };
}
