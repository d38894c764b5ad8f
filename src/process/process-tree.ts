import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Stream } from 'node:stream';
import { setTimeout as delay, setImmediate as nextPoll } from 'node:timers/promises';
import { promisify } from 'node:util';
import { SANDBOX_LIMITS, TOOL_LIMITS } from '../contracts/constants/limits.js';
import type { OutputCollector } from '../define/define-tool.js';
import { type OutputPipe, openOutputPipe } from './output-pipe.js';

/** What to start for a command. */
export interface ProcessOrder {
  readonly argv: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
  /** True if a watcher reads descriptor 3, which the worker holds open, and ends the command when it closes. */
  readonly isWatched: boolean;
  /** A program and its arguments that end what the command may leave, such as its container. It runs when the command has ended. */
  readonly afterwards?: readonly [string, ...string[]];
}

/** A command to run. */
export interface ProcessTreeOptions {
  readonly order: ProcessOrder;
  /** Absolute path. */
  readonly folder: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Receives standard output and standard error. The caller finishes it. */
  readonly output: OutputCollector;
  /** The command is stopped after this much output. */
  readonly outputBytesMax: number;
  /** Called after each piece of output. */
  readonly onOutput?: () => void;
  /** Called with the pid of the first process, which leads the group of all others. */
  readonly onStarted?: (pid: number) => void;
}

/** The reason for stopping a command. */
type StopReason = 'timeout' | 'output' | 'abort';

/** How a command ended: on its own, or stopped by this process. */
export interface ProcessTreeEnd {
  readonly endedBy: 'itself' | StopReason;
  /** The exit code as in a shell: 128 + n after signal n. */
  readonly exitCode: number;
}

const SIGKILL_EXIT_CODE = 137;

/** The descriptor that the watcher of a process group reads. It closes when this process dies. */
const WATCHED = 3;

/**
 * Runs a command without input, with standard output and standard error combined. Stops it after a timeout, an abort, or more output
 * than `outputBytesMax`: SIGTERM, then SIGKILL after 2 s. When the promise resolves, all processes of the command are dead. Rejects only
 * if the command could not be started.
 */
export async function runProcessTree(options: ProcessTreeOptions): Promise<ProcessTreeEnd> {
  options.signal.throwIfAborted();
  const { output, outputBytesMax, onOutput } = options;
  const pipe = await openOutputPipe((piece) => {
    const taken = output.write(piece);
    if (output.bytes > outputBytesMax) stop.now('output');
    onOutput?.();
    return taken;
  });
  const child = start(options, pipe);
  const stop = new TreeStop<StopReason>(child);
  await started(child, pipe);
  const exited = once(child, 'exit');
  if (child.pid !== undefined) options.onStarted?.(child.pid);
  const onLate = (): void => {
    if (isRunning(child)) stop.now('timeout');
  };
  // after a stall of this process, an exit may be there that was not read yet
  const timer = setTimeout(setImmediate, options.timeoutMs, onLate);
  const onAborted = (): void => stop.now('abort');
  options.signal.addEventListener('abort', onAborted, { once: true });
  if (options.signal.aborted) onAborted();
  const [code]: (number | null)[] = await exited;
  clearTimeout(timer);
  options.signal.removeEventListener('abort', onAborted);
  await stop.rest();
  await drained(child, pipe);
  await endRest(options.order);
  return { endedBy: stop.reason ?? 'itself', exitCode: code ?? SIGKILL_EXIT_CODE };
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

/** Runs what ends the rest of a command. It usually finds nothing, and then fails. */
async function endRest({ afterwards, environment }: ProcessOrder): Promise<void> {
  if (!afterwards) return;
  const [program, ...args] = afterwards;
  const options = { env: environment, timeout: SANDBOX_LIMITS.removeTimeoutMs, killSignal: 'SIGKILL' } as const;
  await promisify(execFile)(program, args, options).catch(() => undefined);
}

function start({ order, folder }: ProcessTreeOptions, { writeEnd }: OutputPipe): ChildProcess {
  const [program, ...args] = order.argv;
  const child = spawn(program, args, {
    cwd: folder,
    env: order.environment,
    // its own group and session: signals reach all processes, and the command has no terminal for prompts
    detached: true,
    stdio: ['ignore', writeEnd, writeEnd, ...(order.isWatched ? ['pipe' as const] : [])],
  });
  // `started` reports a child that the system could not start; it has no pipes
  child.on('error', () => undefined);
  const pipes: readonly (Stream | null | undefined)[] | undefined = child.stdio;
  // the pipe closes when the last process exits, so this process must not hold it open
  writeEnd.destroy();
  // the pipe to the watcher breaks when the group dies; without a listener, that error would end the worker
  pipes?.[WATCHED]?.on('error', () => undefined);
  return child;
}

async function started(child: ChildProcess, pipe: OutputPipe): Promise<void> {
  try {
    await once(child, 'spawn');
  } catch (cause) {
    pipe.close();
    throw new Error('FAILED: the command could not be started on this worker', { cause });
  }
}

/** Reads the rest of the pipe. A process that escaped may hold it open, so the wait has a limit. */
async function drained(child: ChildProcess, pipe: OutputPipe): Promise<void> {
  pipe.drain();
  await untilRead(pipe.ended);
  pipe.close();
  for (const stream of child.stdio) stream?.destroy();
}

/** Waits for the end of an output of processes that are gone, for 300 ms at most. What is there by then is read, also after a stall of this process. */
export async function untilRead(ended: Promise<unknown>): Promise<void> {
  await Promise.race([ended, delay(COLLECT_MS_MAX, undefined, { ref: false }).then(() => nextPoll())]);
}

/** The longest wait for killed processes to disappear. Some containers never reap them. */
const COLLECT_MS_MAX = 300;
const COLLECT_EVERY_MS = 5;

/** Stops the process group of a child: SIGTERM first, then SIGKILL. */
export class TreeStop<Reason extends string> {
  reason: Reason | undefined;
  private killTimer: NodeJS.Timeout | undefined;
  private readonly child: ChildProcess;

  constructor(child: ChildProcess) {
    this.child = child;
  }

  /** Sends SIGTERM now and SIGKILL after the grace period. Keeps the first reason. */
  now(reason: Reason): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    signalGroup(this.child, 'SIGTERM');
    this.killTimer = setTimeout(() => signalGroup(this.child, 'SIGKILL'), TOOL_LIMITS.killGraceMs);
  }

  /** Kills the remaining processes after the child has exited. Resolves when the system has reaped them, or after 300 ms. */
  async rest(): Promise<void> {
    clearTimeout(this.killTimer);
    const until = Date.now() + COLLECT_MS_MAX;
    while (signalGroup(this.child, 'SIGKILL') && Date.now() < until) await delay(COLLECT_EVERY_MS);
  }
}

/** False if the group has no process left. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): boolean {
  if (child.pid === undefined) return false;
  try {
    return process.kill(-child.pid, signal);
  } catch {
    // ESRCH: the group has no process
    return false;
  }
}
