import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type ProcessOrder, TreeStop } from './process-tree.js';

/** A server to start. */
export interface ServerOrder {
  /** From its sandbox, for a command of `serverCommand`. */
  readonly order: ProcessOrder;
  /** Absolute path. */
  readonly folder: string;
  /** Variables beside those of the order. */
  readonly variables: Readonly<Record<string, string>>;
}

/** The error output of a program in a process tree, whose script joins both outputs. */
const ERRORS = 4;

/** Time to leave after the end of its input. */
const LEAVE_MS = 500;

/**
 * A program that reads requests from its input and writes answers, in a sandbox. The system ends it with this process. It does not keep
 * Node alive, except between `use(true)` and `use(false)`.
 */
export class ServerProcess {
  /** Settles with the exit code when all processes of the server are gone. Never rejects. */
  readonly ended: Promise<number>;
  readonly #child: ChildProcess;
  readonly #stop: TreeStop<'ended'>;
  #isGone = false;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#stop = new TreeStop(child);
    this.ended = once(child, 'exit').then(async ([code]: (number | null)[]) => {
      this.#isGone = true;
      await this.#stop.rest();
      return code ?? 137;
    });
    // its end is reported by `ended`; without a listener, a broken pipe would end the worker
    for (const stream of child.stdio) stream?.on('error', () => undefined);
    this.use(false);
  }

  /** Starts it. Rejects if the system cannot; a missing program is an exit code. */
  static async start({ order, folder, variables }: ServerOrder): Promise<ServerProcess> {
    const [program, ...args] = order.argv;
    const { PATH: _, ...others } = variables;
    const child = spawn(program, args, {
      cwd: folder,
      // a shell whose input is a socket reads the startup file of its user, unless it runs in another one
      env: { ...order.environment, ...others, SHLVL: '2' },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', order.isWatched ? 'pipe' : 'ignore', 'pipe'],
    });
    await once(child, 'spawn');
    return new ServerProcess(child);
  }

  /** Calls `take` with each piece of its output, and `takeError` with each piece of its error output. */
  read(take: (piece: Buffer) => void, takeError: (piece: Buffer) => void): void {
    this.#child.stdout?.on('data', take);
    this.#child.stderr?.on('data', takeError);
    this.#child.stdio[ERRORS]?.on('data', takeError);
  }

  /** Bytes that were written and that it did not read yet. */
  get unwrittenBytes(): number {
    return this.#child.stdin?.writableLength ?? 0;
  }

  /** Resolves when its input took the text, or broke. */
  async write(text: string): Promise<void> {
    const { stdin } = this.#child;
    if (!stdin?.writable) return;
    await new Promise<void>((resolve) => stdin.write(text, () => resolve()));
  }

  /** Whether Node stays alive for it. */
  use(yes: boolean): void {
    const pipes = this.#child.stdio.filter((stream): stream is Socket => stream instanceof Socket && !stream.destroyed);
    for (const handle of [this.#child, ...pipes]) handle[yes ? 'ref' : 'unref']();
  }

  /** Closes its input, then ends it with all that it started. Resolves when nothing of it is left. */
  async end(): Promise<void> {
    if (!this.#isGone) {
      this.use(true);
      this.#child.stdin?.end();
      await Promise.race([this.ended, delay(LEAVE_MS)]);
      if (!this.#isGone) this.#stop.now('ended');
    }
    await this.ended;
    for (const stream of this.#child.stdio) stream?.destroy();
  }
}

/**
 * The command of a server for the shell of a sandbox. Its error output has a descriptor of its own if the sandbox joins both outputs. Of
 * the variables, only PATH is in it, which must not change the programs that make the sandbox: every user can read a command line.
 */
export function serverCommand(words: readonly string[], joinsOutputs: boolean, { PATH }: Readonly<Record<string, string>>): string {
  const errors = joinsOutputs ? `exec 2>&${ERRORS} ${ERRORS}>&-; ` : '';
  const path = PATH === undefined ? '' : `PATH=${quoted(PATH)}:$PATH; export PATH; `;
  return `${errors}${path}exec ${words.map(quoted).join(' ')}`;
}

/** One word of a shell, whatever is in it. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
