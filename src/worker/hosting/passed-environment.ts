import type { ChildProcess } from 'node:child_process';
import { closeSync, readFileSync } from 'node:fs';
import { eraseInitialValues } from '../../process/initial-environment.js';
import { isReadAtStart, isStartVariable } from './start-variables.js';

/** Names the descriptor from which a process reads the rest of its environment. */
const DESCRIPTOR_VARIABLE = 'PERDURE_ENVIRONMENT_FD';

/** How a child process gets an environment of which others see only a harmless part. */
export interface PassedEnvironment {
  /** The environment that the child is started with. Other processes of the same user can read it. */
  readonly env: NodeJS.ProcessEnv;
  /** The entry of the descriptor in `stdio`. */
  readonly stdio: 'pipe' | 'ignore';
  /** Sends the rest to the started child. Does nothing if the child is gone. */
  send(child: ChildProcess): void;
}

/**
 * Splits the environment of a child process: what it needs to start stays in `env`, all other variables follow over `descriptor`, so that
 * no key is in `/proc/PID/environ`. The child calls `takeEnvironment` first. On Windows, where a program cannot read such a descriptor
 * at once, all stays in `env`.
 */
export function passEnvironment(given: NodeJS.ProcessEnv, descriptor: number): PassedEnvironment {
  if (process.platform === 'win32') return { env: given, stdio: 'ignore', send: () => undefined };
  const entries = Object.entries(given);
  const env = Object.fromEntries(entries.filter(([name]) => isReadAtStart(name)));
  const rest = JSON.stringify(Object.fromEntries(entries.filter(([name]) => !isReadAtStart(name))));
  return {
    env: { ...env, [DESCRIPTOR_VARIABLE]: `${descriptor}` },
    stdio: 'pipe',
    send: (child) => {
      const pipe = child.stdio[descriptor];
      if (!pipe || !('end' in pipe)) return;
      // a child that died before it read breaks the pipe; its exit says so
      pipe.on('error', () => undefined);
      pipe.end(rest, () => pipe.destroy());
    },
  };
}

/**
 * Makes the environment of this process one that only the process itself can read, as far as the system allows it: no key stays in
 * `/proc/PID/environ`. Call it before other modules are loaded, because some read variables then. `process.env` is complete afterwards.
 */
export function takeEnvironment(): void {
  receiveEnvironment(process.env);
  eraseInitialValues((name) => !isStartVariable(name));
}

/** Reads the rest of the environment of this process, if another process passed it. */
function receiveEnvironment(env: NodeJS.ProcessEnv): void {
  const named = env[DESCRIPTOR_VARIABLE];
  if (named === undefined) return;
  delete env[DESCRIPTOR_VARIABLE];
  const descriptor = Number(named);
  const passed: Record<string, string> = JSON.parse(readFileSync(descriptor, 'utf8'));
  closeSync(descriptor);
  for (const [name, value] of Object.entries(passed)) env[name] ??= value;
}
