import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { TOOL_LIMITS } from '../../contracts/limits.js';
import type { OutputCollector } from '../../define/tool-output.js';
import { commandEnvironment } from './command-environment.js';
import type { CommandSandbox } from './command-sandbox.js';
import { WorkspaceError } from './workspace-error.js';

/** A command to run. */
export interface ProcessTreeOptions {
  readonly command: string;
  readonly sandbox: CommandSandbox;
  /** Absolute path. */
  readonly folder: string;
  /** Absolute paths of folders to cover where the sandbox can; all must exist. */
  readonly hidden: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Takes both outputs; it is the caller's to finish. */
  readonly output: OutputCollector;
  /** More than this is taken for endless. */
  readonly outputBytesMax: number;
  /** Called after each piece of output was taken in. */
  readonly onOutput?: () => void;
}

/** Why we ended a command. */
type StopReason = 'timeout' | 'output' | 'abort';

/** How a command ended: by itself, or stopped by us. */
export interface ProcessTreeEnd {
  readonly endedBy: 'itself' | StopReason;
  /** Exit code as a shell gives it: 128 + n after signal n. */
  readonly exitCode: number;
}

/** Killed processes stay visible until the system collects them; some containers never do, so this is all they are waited for. */
const COLLECT_MS_MAX = 300;
const COLLECT_EVERY_MS = 5;
const SIGKILL_EXIT_CODE = 137;

/** After the end of a command there is a pipe's worth left to read; more comes from a process that got away. */
const LATE_BYTES_MAX = 1_024 * 1_024;

/** The descriptor that a process group's watcher waits on: it closes when this process is gone. */
const WATCHED = 3;

/**
 * Runs a command and all that it starts, with no input and both outputs merged. When this resolves the whole tree is dead:
 * after its own end, a timeout, an abort, or more output than `outputBytesMax`: TERM, two seconds, KILL.
 * Rejects only when the command could not be started.
 */
export async function runProcessTree(options: ProcessTreeOptions): Promise<ProcessTreeEnd> {
  options.signal.throwIfAborted();
  const child = start(options);
  await started(child);
  const exited = once(child, 'exit');
  const closed = once(child, 'close');
  const stop = new Stop(child);
  const reading = read(child, options, stop);
  const timer = setTimeout(() => stop.now('timeout'), options.timeoutMs);
  const onAborted = (): void => stop.now('abort');
  options.signal.addEventListener('abort', onAborted, { once: true });
  if (options.signal.aborted) onAborted();
  const [code]: (number | null)[] = await exited;
  clearTimeout(timer);
  options.signal.removeEventListener('abort', onAborted);
  await stop.rest();
  reading.hurry();
  await drained(child, closed);
  return { endedBy: stop.reason ?? 'itself', exitCode: code ?? SIGKILL_EXIT_CODE };
}

function start({ command, sandbox, folder, hidden }: ProcessTreeOptions): ChildProcess {
  const [program = 'sh', ...args] = sandbox.argv;
  return spawn(program, [...args, command, ...(sandbox.kind === 'namespace' ? hidden : [])], {
    cwd: folder,
    env: commandEnvironment(process.env),
    // a group and session of its own: signals reach all of it, and there is no terminal to ask a person on
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', ...(sandbox.kind === 'process-group' ? ['pipe' as const] : [])],
  });
}

async function started(child: ChildProcess): Promise<void> {
  try {
    await once(child, 'spawn');
  } catch (cause) {
    throw new WorkspaceError('FAILED', 'the command could not be started on this worker', { cause });
  }
}

/**
 * Hands both outputs to the collector, no faster than it takes them: a command that prints faster waits at its pipe. `hurry` reads
 * what is left without waiting.
 */
function read(child: ChildProcess, { output, outputBytesMax, onOutput }: ProcessTreeOptions, stop: Stop): { hurry(): void } {
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
  let lateBytes: number | undefined;
  for (const stream of streams) {
    stream.on('data', (chunk: Buffer) => {
      const taken = output.write(chunk);
      if (output.bytes > outputBytesMax) stop.now('output');
      onOutput?.();
      if (lateBytes === undefined) {
        stream.pause();
        void taken.then(() => stream.resume());
        return;
      }
      lateBytes += chunk.length;
      if (lateBytes > LATE_BYTES_MAX) stream.destroy();
    });
  }
  // the watcher's end of it breaks with the group, which is no news; without a listener it would end the worker
  child.stdio[WATCHED]?.on('error', () => undefined);
  return {
    hurry: () => {
      lateBytes = 0;
      for (const stream of streams) stream.resume();
    },
  };
}

/** Ends a tree, gently and then not. */
class Stop {
  reason: StopReason | undefined;
  private killTimer: NodeJS.Timeout | undefined;
  private readonly child: ChildProcess;

  constructor(child: ChildProcess) {
    this.child = child;
  }

  /** TERM to all now, KILL after the grace. The first reason stands. */
  now(reason: StopReason): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    signalGroup(this.child, 'SIGTERM');
    this.killTimer = setTimeout(() => signalGroup(this.child, 'SIGKILL'), TOOL_LIMITS.killGraceMs);
  }

  /** After the end of the command: what it left behind is killed, and has been collected by the system when this resolves. */
  async rest(): Promise<void> {
    clearTimeout(this.killTimer);
    const until = Date.now() + COLLECT_MS_MAX;
    while (signalGroup(this.child, 'SIGKILL') && Date.now() < until) await delay(COLLECT_EVERY_MS);
  }
}

/** False when no process of the group is left. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): boolean {
  if (child.pid === undefined) return false;
  try {
    return process.kill(-child.pid, signal);
  } catch {
    // ESRCH: nobody is left to be told
    return false;
  }
}

/** A process that got away may hold the pipe open: its output is given up. */
async function drained(child: ChildProcess, closed: Promise<unknown>): Promise<void> {
  await Promise.race([closed, delay(COLLECT_MS_MAX, undefined, { ref: false })]);
  for (const stream of child.stdio) stream?.destroy();
}
