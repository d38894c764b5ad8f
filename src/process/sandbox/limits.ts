import { SANDBOX_LIMITS } from '../../contracts/constants/limits.js';
import { KIB, SECOND_MS } from '../../contracts/constants/units.js';

/** What one command may use of the machine. */
export interface CommandLimits {
  /** Processes and threads. */
  readonly processes: number;
  /** Memory of all processes in bytes; of each one without a control group. */
  readonly memoryBytes: number;
  /** CPU time of each process in milliseconds. */
  readonly cpuMs: number;
  /** Size of each file in bytes. */
  readonly fileBytes: number;
  /** Open files of each process. */
  readonly openFiles: number;
}

/** A limit that a command reached. */
export type LimitName = keyof CommandLimits;

/** Completes the limits of a config. */
export function commandLimits(given: { readonly [name in LimitName]?: number | undefined } = {}): CommandLimits {
  return {
    processes: given.processes ?? SANDBOX_LIMITS.processes,
    memoryBytes: given.memoryBytes ?? SANDBOX_LIMITS.memoryBytes,
    cpuMs: given.cpuMs ?? SANDBOX_LIMITS.cpuMs,
    fileBytes: given.fileBytes ?? SANDBOX_LIMITS.fileBytes,
    openFiles: given.openFiles ?? SANDBOX_LIMITS.openFiles,
  };
}

/** The unit of `ulimit -f` in bytes. */
const FILE_UNIT = { bash: KIB, sh: 512 } as const;

/**
 * A line of a shell that sets the resource limits of the process. One that the worker has already, and that is lower, stays. The number of
 * processes counts within the user namespace of the sandbox; for root, the kernel has no such limit. `isGrouped`: a control group limits the
 * memory, so that the kernel says which command reached it.
 */
export function limitLine(limits: CommandLimits | undefined, shell: 'bash' | 'sh', isGrouped: boolean): string {
  if (!limits) return ':';
  const seconds = Math.ceil(limits.cpuMs / SECOND_MS);
  const grace = SANDBOX_LIMITS.cpuGraceMs / SECOND_MS;
  const set = [
    '-c 0',
    `-n ${limits.openFiles}`,
    `-f ${Math.floor(limits.fileBytes / FILE_UNIT[shell])}`,
    `-H -t ${seconds + grace}`,
    `-S -t ${seconds}`,
    ...(isGrouped ? [] : [`-d ${Math.floor(limits.memoryBytes / KIB)}`]),
    `${shell === 'bash' ? '-u' : '-p'} ${limits.processes}`,
  ];
  return `{ ${set.map((limit) => `ulimit ${limit}`).join('; ')}; } 2>/dev/null`;
}

/** Exit codes of a process that the kernel ended: 128 + SIGXCPU, SIGXFSZ. */
const SIGNALLED: Readonly<Record<number, LimitName>> = { 152: 'cpuMs', 153: 'fileBytes' };

/** What programs print of the error that the kernel gave them: EFBIG, EMFILE, EAGAIN of a new process, ENOMEM. */
const PRINTED: readonly (readonly [RegExp, LimitName])[] = [
  [/file too large|EFBIG/iu, 'fileBytes'],
  [/too many open files|EMFILE/iu, 'openFiles'],
  [/(?:fork|thread|spawn).*(?:resource temporarily unavailable|EAGAIN)/iu, 'processes'],
  [/cannot allocate memory|out of memory|memoryerror|bad_alloc|ENOMEM/iu, 'memoryBytes'],
];

/** Exit code of a process that SIGKILL ended. */
const KILLED = 137;

/**
 * The resource limit that a failed command reached, by its exit code and the end of its output. `isContained`: an engine keeps the limit of
 * memory. It counts nothing for others, and a command that ended by SIGKILL on its own most likely reached that limit.
 */
export function reachedLimit(exitCode: number, lastLine: string, isContained = false): LimitName | undefined {
  if (isContained && exitCode === KILLED) return 'memoryBytes';
  return SIGNALLED[exitCode] ?? PRINTED.find(([pattern]) => pattern.test(lastLine))?.[1];
}
