import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { builtCli } from '../../support/built-package.js';
import { NODE_FLAGS } from '../../support/node-flags.js';
import { until } from '../../support/use-workers.js';

const PRINT_MS_MAX = 90_000;

/** How a command ended, with all it printed. */
export interface CommandEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where a command is started. */
export interface CommandOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly program?: string;
  /** A program that starts it. @default none */
  readonly launcher?: readonly string[];
}

/** A Node program in a process of its own: the command line, unless another one is named. */
export class Command {
  readonly child: ChildProcess;
  readonly ended: Promise<CommandEnd>;
  readonly #args: readonly string[];
  readonly #printed = { stdout: '', stderr: '' };

  constructor(args: readonly string[], { program = builtCli(), launcher = [], ...options }: CommandOptions) {
    this.#args = args;
    const [first = process.execPath, ...rest] = [...launcher, process.execPath, ...NODE_FLAGS, program, ...args];
    this.child = spawn(first, rest, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const name of ['stdout', 'stderr'] as const) {
      this.child[name]?.setEncoding('utf8').on('data', (text: string) => {
        this.#printed[name] += text;
      });
    }
    this.ended = once(this.child, 'close').then(([code, signal]) => ({ code, signal, ...this.#printed }));
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error(`perdure ${this.#args.join(' ')} did not start`);
    return this.child.pid;
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  get stdout(): string {
    return this.#printed.stdout;
  }

  get stderr(): string {
    return this.#printed.stderr;
  }

  /** Waits until it has printed this, on whichever stream. */
  async prints(text: string): Promise<void> {
    await until(
      () => {
        if (this.stdout.includes(text) || this.stderr.includes(text)) return true;
        if (!this.isRunning) throw new Error(`${this.#describe()} ended without printing ${JSON.stringify(text)}`);
        return false;
      },
      `"${text}" printed by perdure ${this.#args.join(' ')}`,
      PRINT_MS_MAX,
    );
  }

  /** Sends a signal and waits for the end. */
  async kill(signal: NodeJS.Signals): Promise<CommandEnd> {
    this.child.kill(signal);
    return await this.ended;
  }

  /** Waits for the end, which must be this exit status. */
  async exits(code: number): Promise<CommandEnd> {
    const end = await this.ended;
    if (end.code !== code) throw new Error(`${this.#describe()} ended with ${end.code ?? end.signal}, not ${code}`);
    return end;
  }

  #describe(): string {
    return `perdure ${this.#args.join(' ')}\n${this.stdout}\n${this.stderr}\n`;
  }
}
