import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, vi } from 'vitest';
import type { CommandProgram } from '../../../cli/support/cli.js';

const run = promisify(execFile);

/** A pane keeps its screen after its command ended, and all that scrolled away. */
const CONFIG = 'set -g remain-on-exit on\nset -g history-limit 20000\nset -g status off\nset -g default-terminal tmux-256color\n';
const WAIT = { timeout: 60_000, interval: 50 };
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** Runs a command and writes its exit status to a file: tmux does not always get it when the terminal closes first. */
const WITH_STATUS = `"$@"; printf %s "$?" > "$0"`;

/** The size of a terminal. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** A command in a real terminal: its screen can be read, and keys be pressed. */
export class TmuxTerminal {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Starts a command in a terminal of its own. Fails with a clear message if tmux is missing. */
  static async start({ command, args, cwd, env }: CommandProgram, { columns, rows }: Size): Promise<TmuxTerminal> {
    const folder = await mkdtemp(join(tmpdir(), 'perdure-tmux-'));
    await writeFile(join(folder, 'tmux.conf'), CONFIG);
    const terminal = new TmuxTerminal(folder);
    const size = ['-x', String(columns), '-y', String(rows)];
    await terminal.#tmux(['new-session', '-d', ...size, '-c', cwd, '--', 'sh', '-c', WITH_STATUS, terminal.#status, command, ...args], {
      ...env,
      LC_ALL: 'C.UTF-8',
    });
    return terminal;
  }

  /** Types characters as they are. */
  async type(text: string): Promise<void> {
    await this.#tmux(['send-keys', '-l', '--', text]);
  }

  /** Presses keys by their names of tmux, such as `Enter` or `C-c`. */
  async press(...keys: readonly string[]): Promise<void> {
    await this.#tmux(['send-keys', ...keys]);
  }

  async resize({ columns, rows }: Size): Promise<void> {
    await this.#tmux(['resize-window', '-x', String(columns), '-y', String(rows)]);
  }

  /** The visible rows. */
  async screen(): Promise<string> {
    return await this.#capture('-p');
  }

  /** All rows, also those that scrolled away. */
  async all(): Promise<string> {
    return await this.#capture('-p', '-S', '-');
  }

  /** The visible rows with their colours, as escape sequences. */
  async coloured(): Promise<string> {
    return await this.#capture('-p', '-e');
  }

  /** Waits until the visible rows have a text. */
  async saw(text: RegExp): Promise<string> {
    return await vi.waitFor(async () => {
      const screen = await this.screen();
      if (!text.test(screen)) throw new Error(`not seen: ${text}\n${screen}`);
      return screen;
    }, WAIT);
  }

  /** Waits for the end of the command. Resolves with its exit status. */
  async ended(): Promise<number> {
    return await vi.waitFor(async () => {
      const code = await readFile(this.#status, 'utf8').catch(() => '');
      if (code === '') throw new Error(`it has not ended:\n${await this.screen()}`);
      return Number(code);
    }, WAIT);
  }

  /** Ends the terminal and its command. */
  async remove(): Promise<void> {
    await this.#tmux(['kill-server']).catch(() => undefined);
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #status(): string {
    return join(this.#folder, 'status');
  }

  async #capture(...options: readonly string[]): Promise<string> {
    const text = await this.#tmux(['capture-pane', ...options]);
    return text.replaceAll(/[ \t]+$/gmu, '').trimEnd();
  }

  async #tmux(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<string> {
    const socket = ['-u', '-S', join(this.#folder, 'socket'), '-f', join(this.#folder, 'tmux.conf')];
    const { stdout } = await run('tmux', [...socket, ...args], { env, maxBuffer: OUTPUT_BYTES_MAX });
    return stdout;
  }
}

/** Opens terminals for tests; they are gone after the test. */
export function useTerminals(): (program: CommandProgram, size: Size) => Promise<TmuxTerminal> {
  const opened: TmuxTerminal[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((terminal) => terminal.remove()));
  });
  return async (program, size) => {
    const terminal = await TmuxTerminal.start(program, size);
    opened.push(terminal);
    return terminal;
  };
}
