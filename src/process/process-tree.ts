import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { TOOL_LIMITS } from '../contracts/constants/limits.js';
import type { OutputCollector } from '../define/define-tool.js';
import { type CommandSandbox, commandEnvironment } from './command-sandbox.js';
import { type OutputPipe, openOutputPipe } from './output-pipe.js';

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

const SIGKILL_EXIT_CODE = 137;

/** The descriptor that a process group's watcher waits on: it closes when this process is gone. */
const WATCHED = 3;

/**
 * Runs a command and all that it starts, with no input and both outputs merged. When this resolves the whole tree is dead:
 * after its own end, a timeout, an abort, or more output than `outputBytesMax`: TERM, two seconds, KILL.
 * Rejects only when the command could not be started.
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
  const timer = setTimeout(() => stop.now('timeout'), options.timeoutMs);
  const onAborted = (): void => stop.now('abort');
  options.signal.addEventListener('abort', onAborted, { once: true });
  if (options.signal.aborted) onAborted();
  const [code]: (number | null)[] = await exited;
  clearTimeout(timer);
  options.signal.removeEventListener('abort', onAborted);
  await stop.rest();
  await drained(child, pipe);
  return { endedBy: stop.reason ?? 'itself', exitCode: code ?? SIGKILL_EXIT_CODE };
}

function start({ command, sandbox, folder, hidden }: ProcessTreeOptions, { writeEnd }: OutputPipe): ChildProcess {
  const [program = 'sh', ...args] = sandbox.argv;
  const child = spawn(program, [...args, command, ...(sandbox.kind === 'namespace' ? hidden : [])], {
    cwd: folder,
    env: commandEnvironment(process.env),
    // a group and session of its own: signals reach all of it, and there is no terminal to ask a person on
    detached: true,
    stdio: ['ignore', writeEnd, writeEnd, ...(sandbox.kind === 'process-group' ? ['pipe' as const] : [])],
  });
  // the pipe ends when the processes are gone, so nobody else may hold it
  writeEnd.destroy();
  // the watcher's end of it breaks with the group, which is no news; without a listener it would end the worker
  child.stdio[WATCHED]?.on('error', () => undefined);
  return child;
}

async function started(child: ChildProcess, pipe: OutputPipe): Promise<void> {
  try {
    await once(child, 'spawn');
  } catch (cause) {
    pipe.giveUp();
    throw new Error('FAILED: the command could not be started on this worker', { cause });
  }
}

/** What is left in the pipe is read at once. A process that got away may hold it open: its output is given up. */
async function drained(child: ChildProcess, pipe: OutputPipe): Promise<void> {
  pipe.hurry();
  await Promise.race([pipe.ended, delay(COLLECT_MS_MAX, undefined, { ref: false })]);
  pipe.giveUp();
  for (const stream of child.stdio) stream?.destroy();
}

/** Killed processes stay visible until the system collects them; some containers never do, so this is all they are waited for. */
export const COLLECT_MS_MAX = 300;
const COLLECT_EVERY_MS = 5;

/** Ends a process that leads a group of its own, and all of that group, gently and then not. `Reason`: why it was ended. */
export class TreeStop<Reason extends string> {
  reason: Reason | undefined;
  private killTimer: NodeJS.Timeout | undefined;
  private readonly child: ChildProcess;

  constructor(child: ChildProcess) {
    this.child = child;
  }

  /** TERM to all now, KILL after the grace. The first reason stands. */
  now(reason: Reason): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    signalGroup(this.child, 'SIGTERM');
    this.killTimer = setTimeout(() => signalGroup(this.child, 'SIGKILL'), TOOL_LIMITS.killGraceMs);
  }

  /** After the end of the first process: what it left behind is killed, and has been collected by the system when this resolves. */
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
