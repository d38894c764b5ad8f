import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, inject, vi } from 'vitest';
import { livePresences } from '../../../src/worker/state-folder/presence.js';
import { builtCli } from '../../support/built-package.js';
import { NODE_FLAGS } from '../../support/node-flags.js';
import { hostsNothing, typed } from '../../support/typed-command.js';
import { removeStateDir } from '../../worker/support/state-dir.js';

/** What a command printed, and how it ended. */
export interface CommandEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command line that runs as a process of its own. */
export interface Command {
  readonly child: ChildProcess;
  readonly ended: Promise<CommandEnd>;
  /** Waits until stderr has a text. */
  saw(text: string | RegExp): Promise<void>;
}

/** What starts a command. */
export interface CommandProgram {
  readonly command: string;
  readonly args: string[];
  readonly cwd: string;
  readonly env: Record<string, string>;
}

/** A temporary folder to run commands in. */
export class CliFolder {
  readonly path: string;
  readonly #running = new Set<Command>();

  private constructor(path: string) {
    this.path = path;
  }

  static async make(): Promise<CliFolder> {
    return new CliFolder(await realpath(await mkdtemp(join(tmpdir(), 'perdure-cli-'))));
  }

  /** Starts a command; its environment has no key and names no server. */
  start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Command {
    const child = spawn(process.execPath, [...NODE_FLAGS, builtCli(), ...args], {
      cwd: this.path,
      env: cleanEnvironment(env),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const seen = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => {
      seen.stdout += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      seen.stderr += chunk.toString();
    });
    const closed = once(child, 'close');
    const command: Command = {
      child,
      ended: closed.then(() => {
        this.#running.delete(command);
        return { code: child.exitCode, ...seen };
      }),
      async saw(text) {
        await vi.waitFor(
          () => {
            if (typeof text === 'string' ? !seen.stderr.includes(text) : !text.test(seen.stderr))
              throw new Error(`not seen: ${text}\n${seen.stderr}`);
          },
          { timeout: 60_000, interval: 20 },
        );
      },
    };
    this.#running.add(command);
    return command;
  }

  /** The program that runs a command, for a client that starts it itself. */
  program(args: readonly string[], env: NodeJS.ProcessEnv = {}): CommandProgram {
    const defined = Object.entries(cleanEnvironment(env)).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
    return { command: process.execPath, args: [...NODE_FLAGS, builtCli(), ...args], cwd: this.path, env: Object.fromEntries(defined) };
  }

  /** Runs a command to its end. */
  async run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<CommandEnd> {
    return await (hostsNothing(args) ? this.type(args, env) : this.start(args, env).ended);
  }

  /** Carries a command out without a process of its own. It must host no worker: the folder has one, or the command refuses its input. */
  async type(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<CommandEnd> {
    return await typed(args, { cwd: this.path, env: cleanEnvironment(env) });
  }

  /** Ends what is still running, also in the background, and the folder's server, and removes the folder. */
  async remove(): Promise<void> {
    for (const { child, ended } of this.#running) {
      child.kill('SIGKILL');
      await ended;
    }
    const stateDir = join(this.path, '.perdure');
    for (const { pid } of await livePresences(join(stateDir, 'background'))) process.kill(pid, 'SIGKILL');
    await removeStateDir(stateDir);
    await rm(this.path, { recursive: true, force: true });
  }
}

/** Makes folders for a test, each with its own server; they are gone after the test. */
export function useCliFolders(): () => Promise<CliFolder> {
  const folders: CliFolder[] = [];
  afterEach(async () => {
    for (const folder of folders.splice(0)) await folder.remove();
  });
  return async () => {
    const folder = await CliFolder.make();
    folders.push(folder);
    return folder;
  };
}

function cleanEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^TEMPORAL_|_API_KEY$|^PERDURE_|_BASE_URL$|^VITEST|^NODE_OPTIONS$/u.test(name),
  );
  return { ...Object.fromEntries(kept), PERDURE_TEMPORAL_BIN: inject('temporalBinary'), ...env };
}
