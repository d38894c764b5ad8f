import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { EXECUTOR_LIMITS } from '../../contracts/constants/limits.js';
import { cleanText } from '../../contracts/text/sanitize-text.js';
import type { CommandSandbox } from '../../process/command-sandbox.js';
import { TreeStop, untilRead } from '../../process/process-tree.js';
import { quoted } from '../../process/server-process.js';
import { ModelError } from '../contract/model-error.js';
import type { ExecutorEnvironment } from './environment.js';
import { LineReader } from './line-reader.js';
import { type ChildLine, type ParentLine, readChildLine } from './protocol.js';

/** What is started. */
export interface ExecutorCommand {
  /** Whose process it is, for errors. */
  readonly agent: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: ExecutorEnvironment;
  readonly sandbox: CommandSandbox;
  /** An absolute path. */
  readonly cwd: string;
}

/** Descriptors beside the three usual ones: what a process group's watcher waits on, then the program's own error output and input. */
const WATCHED = 3;
const ERRORS = 4;
const INPUT = 5;

const SIGKILL_EXIT_CODE = 137;
const PROBLEM_CHARS_MAX = 500;

/** The sandbox merges both outputs, and a shell whose input is a socket reads its user's startup files: both take ways of their own. */
const REDIRECT = `exec 0<&${INPUT} ${INPUT}<&- 2>&${ERRORS} ${ERRORS}>&- ${WATCHED}>&-; exec`;

/**
 * A child process that speaks the executors' protocol, in a sandbox that keeps it together: it and all that it starts are ended
 * with `end`, and by the system when this process dies. It is read only while somebody asks for a line, so that what it writes
 * too early waits in its pipe.
 */
export class ExecutorProcess {
  readonly #child: ChildProcess;
  readonly #stop: TreeStop<'ended'>;
  readonly #lines: LineReader;
  readonly #agent: string;
  readonly #redact: (text: string) => string;
  readonly #errors = new TextTail(EXECUTOR_LIMITS.tailBytes);
  readonly #logs = new TextTail(EXECUTOR_LIMITS.tailBytes);
  readonly #exited: Promise<number>;
  readonly #errorsEnded: Promise<void>;
  #progress: string | undefined;
  #leftWith: number | undefined;
  #isGone = false;
  #isEnded = false;

  /** `child` was started, and nothing of its output read. */
  private constructor(child: ChildProcess, { agent, environment }: ExecutorCommand) {
    this.#child = child;
    this.#agent = agent;
    this.#redact = (text) => environment.redact(text);
    this.#stop = new TreeStop(child);
    this.#lines = new LineReader(child.stdout ?? Readable.from([]), EXECUTOR_LIMITS.lineBytesMax);
    this.#exited = new Promise((resolve) => child.once('exit', (code) => resolve(this.#left(code))));
    this.#errorsEnded = new Promise((resolve) => child.stdio[ERRORS]?.once('close', resolve));
    child.stdio[ERRORS]?.on('data', (chunk: Buffer) => this.#errors.append(chunk));
    child.stderr?.on('data', (chunk: Buffer) => this.#errors.append(chunk));
    // a child that left breaks its pipes, which its end tells better; without a listener it would end the worker
    for (const stream of child.stdio) stream?.on('error', () => undefined);
  }

  /** Starts the command. Throws `Executor.Failed` when the system cannot; a command that is not found is told by its exit code. */
  static async start(order: ExecutorCommand): Promise<ExecutorProcess> {
    const { agent, command, args, environment, sandbox, cwd } = order;
    const [program = 'sh', ...before] = sandbox.argv;
    const child = spawn(program, [...before, `${REDIRECT} ${[command, ...args].map(quoted).join(' ')}`], {
      cwd,
      env: environment.variables,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', sandbox.kind === 'process-group' ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    });
    await once(child, 'spawn').catch((cause: unknown) => {
      throw new ModelError('Executor.Failed', `agent ${agent}: it could not be started in ${cwd} on this worker`, { cause });
    });
    return new ExecutorProcess(child, order);
  }

  /** The exit code of a process that left by itself. */
  get leftWith(): number | undefined {
    return this.#leftWith;
  }

  /** Writes a line; resolves when the child's pipe took it, or broke. */
  async send(line: ParentLine): Promise<void> {
    const input = this.#child.stdio.at(INPUT);
    if (!(input instanceof Socket) || !input.writable) return;
    await new Promise<void>((resolve) => input.write(`${JSON.stringify(line)}\n`, () => resolve()));
  }

  /** The next line of the protocol. Throws `Executor.Failed` when the child ended, broke the protocol, or wrote without end. */
  async receive(): Promise<Exclude<ChildLine, { type: 'progress' }>> {
    for (;;) {
      const text = await this.#lines.next();
      if (text === undefined) throw await this.#endedEarly();
      const line = readChildLine(text);
      if (line.type === 'breach') throw this.failed(`it broke the protocol: ${line.problem}`);
      if (line.type === 'log') this.#logs.append(`${text}\n`);
      else if (line.type === 'progress') this.#progress = line.text;
      else return line;
    }
  }

  /** The child began to answer anew: what it may write is counted from here. */
  beginAnswer(): void {
    this.#lines.allow(EXECUTOR_LIMITS.outputBytesMax);
  }

  /** Whether Node stays for the child: not while nobody waits for it. */
  keepsNodeAlive(yes: boolean): void {
    const pipes = this.#child.stdio.filter((stream) => stream instanceof Socket);
    for (const handle of [this.#child, ...pipes]) handle[yes ? 'ref' : 'unref']();
  }

  /** An error that names what the child wrote last: its error output, or else what it printed. */
  failed(problem: string): ModelError {
    const stderr = this.#errors.text(this.#redact);
    const log = stderr === '' ? { name: 'output', text: this.#logs.text(this.#redact) } : { name: 'stderr', text: stderr };
    const at = this.#progress ? ` (its last progress: ${this.#progress})` : '';
    const message = this.#redact(`agent ${this.#agent}: ${problem}${at}`).slice(0, PROBLEM_CHARS_MAX);
    return new ModelError('Executor.Failed', log.text === '' ? message : `${message}; ${log.name}: ${log.text}`);
  }

  /** Tells it to stop, then ends it with all that it started. Resolves when nothing of it is left; may be called again. */
  async end(): Promise<void> {
    this.#isEnded = true;
    if (!this.#isGone) {
      void this.send({ type: 'cancel' });
      const input = this.#child.stdio.at(INPUT);
      if (input instanceof Socket) input.end();
      await Promise.race([this.#exited, delay(EXECUTOR_LIMITS.cancelGraceMs)]);
      if (!this.#isGone) this.#stop.now('ended');
    }
    await this.#exited;
    for (const stream of this.#child.stdio) stream?.destroy();
  }

  /** Its exit code as a shell gives it, once nothing of the tree is left. */
  async #left(code: number | null): Promise<number> {
    this.#isGone = true;
    if (!this.#isEnded) this.#leftWith = code ?? SIGKILL_EXIT_CODE;
    await this.#stop.rest();
    return code ?? SIGKILL_EXIT_CODE;
  }

  async #endedEarly(): Promise<ModelError> {
    if (this.#lines.problem !== undefined) return this.failed(this.#lines.problem);
    // the sandbox holds the output open until all is over
    const code = await this.#exited;
    await untilRead(this.#errorsEnded);
    return this.failed(`it ended with exit code ${code} before it answered`);
  }
}

/** What is kept beyond what is shown: a secret must be whole to be found. */
const KEPT_FACTOR = 4;

/** The end of an output of any length, for errors. */
class TextTail {
  readonly #bytesMax: number;
  #kept: Buffer = Buffer.alloc(0);

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  append(chunk: Buffer | string): void {
    const all = Buffer.concat([this.#kept, Buffer.from(chunk)]);
    // copied, so that a small end does not hold a large piece
    this.#kept = Buffer.from(all.subarray(-KEPT_FACTOR * this.#bytesMax));
  }

  /** The last bytes as text, without terminal colours, after `rewrite` looked at what is before them too. Empty when nothing came. */
  text(rewrite: (text: string) => string): string {
    const text = rewrite(cleanText(stripVTControlCharacters(this.#kept.toString('utf8')))).trim();
    const bytes = Buffer.from(text);
    if (bytes.length <= this.#bytesMax) return text;
    return `… ${bytes.toString('utf8', bytes.length - this.#bytesMax).replace(/^\uFFFD+/u, '')}`;
  }
}
