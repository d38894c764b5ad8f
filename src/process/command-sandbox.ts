import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * How commands are kept together and ended.
 * `namespace`: an own process namespace that the kernel ends with the worker; no process can leave it, signals reach nothing
 * outside, other processes are invisible and the state folder is covered.
 * `process-group`: a process group, and a watcher in it that ends it when the worker dies. A child that makes a session of its
 * own (`setsid`) gets away, `kill -9 -1` reaches all processes of the user, and the state folder is not covered.
 */
export interface CommandSandbox {
  readonly kind: 'namespace' | 'process-group';
  readonly shell: 'bash' | 'sh';
  /** The program and arguments to start; the command and the folders to hide are appended. */
  readonly argv: readonly string[];
}

/** Options of `unshare` in order of preference. As root the command stays the real root; others become root of nothing but their own files. */
const UNSHARE_OPTIONS = [['--mount'], ['--user', '--map-current-user', '--keep-caps', '--mount']] as const;

/** What a command may not do in its namespace: uncover the state folder, look into other processes, reach devices. */
const DROPPED = '-sys_admin,-sys_ptrace,-sys_module,-sys_rawio,-sys_boot,-sys_time,-mknod,-dac_read_search';

/**
 * Runs as process 1 of the namespace. Folders are covered first; the command is a child, because to process 1 itself signals
 * without a handler do nothing; TERM has a handler here, so that it ends the command and not this shell. The shell's own remarks
 * (`Terminated`) are not the command's output.
 */
const NAMESPACE_SCRIPT = `
trap : TERM
command=$1; shift
for folder in "$@"; do mount -t tmpfs -o ro,size=4k perdure "$folder" || exit 125; done
exec 2>/dev/null
(exec 2>&1; exec setpriv --ambient-caps=-all --inh-caps=-all --bounding-set=${DROPPED} --no-new-privs SHELL -c "$command")
exit $?
`;

/** The watcher waits for the end of descriptor 3, which the worker holds: a dead worker closes it, and the whole group is ended. */
const GROUP_SCRIPT = `
trap : TERM
(trap '' TERM; read -r _ <&3; kill -KILL 0) >/dev/null 2>&1 &
exec 3<&- 2>/dev/null
(exec 2>&1; exec SHELL -c "$1")
code=$?
kill -KILL $!; wait $!
exit $code
`;

const PROBE_TIMEOUT_MS = 5_000;

let found: Promise<CommandSandbox> | undefined;

/** The strongest sandbox this machine allows: tried once with a real command, then remembered for the process. Never throws. */
export function commandSandbox(): Promise<CommandSandbox> {
  found ??= findSandbox();
  return found;
}

/** The weaker form, which works wherever there is a POSIX shell. */
export async function processGroupSandbox(): Promise<CommandSandbox> {
  const shell = await findShell();
  return { kind: 'process-group', shell, argv: ['sh', '-c', GROUP_SCRIPT.replace('SHELL', shell), 'perdure'] };
}

async function findSandbox(): Promise<CommandSandbox> {
  const shell = await findShell();
  for (const options of UNSHARE_OPTIONS) {
    const argv = namespaceArgv(options, shell);
    if (await hides(argv)) return { kind: 'namespace', shell, argv };
  }
  return processGroupSandbox();
}

function namespaceArgv(options: readonly string[], shell: string): string[] {
  const unshare = ['unshare', ...options, '--pid', '--mount-proc', '--fork', '--kill-child'];
  return ['setpriv', '--pdeathsig', 'SIGKILL', ...unshare, 'sh', '-c', NAMESPACE_SCRIPT.replace('SHELL', shell), 'perdure'];
}

async function findShell(): Promise<'bash' | 'sh'> {
  return (await succeeds(['bash', '-c', ':'])) ? 'bash' : 'sh';
}

/** Tries the whole of it: a folder is covered and stays so, and nothing but the namespace's own processes is there. */
async function hides(argv: readonly string[]): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const folder = await mkdtemp(join(tmpdir(), 'perdure-probe-'));
  try {
    return await succeeds([...argv, `! umount "${folder}" 2>/dev/null && ! touch "${folder}/x" 2>/dev/null && [ "$PPID" = 1 ]`, folder]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function succeeds(argv: readonly string[]): Promise<boolean> {
  const [program = '', ...args] = argv;
  try {
    await promisify(execFile)(program, args, { timeout: PROBE_TIMEOUT_MS, killSignal: 'SIGKILL', env: commandEnvironment(process.env) });
    return true;
  } catch {
    // any failure means the same: this form cannot be used here
    return false;
  }
}

/** Variables a command may see. All else stays with the worker: provider keys above all. */
const ALLOWED: ReadonlySet<string> = new Set(['PATH', 'HOME', 'LANG', 'TMPDIR', 'TERM', 'TZ']);

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The environment of a command: an allowlist of the worker's own (PATH, HOME, LANG, LC_*, TMPDIR, TERM, TZ), and nothing else. */
export function commandEnvironment(own: NodeJS.ProcessEnv): Record<string, string> {
  const allowed = Object.entries(own).flatMap(([name, value]) =>
    value !== undefined && (ALLOWED.has(name) || name.startsWith('LC_')) ? [[name, value] as const] : [],
  );
  return { PATH: DEFAULT_PATH, ...Object.fromEntries(allowed) };
}
