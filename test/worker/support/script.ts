import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { NODE_FLAGS } from '../../support/node-flags.js';

/** A real process that runs one of the scripts of this folder's neighbour `scripts/`. */
export interface Script {
  readonly child: ChildProcess;
  readonly pid: number;
  /** What it has printed so far. */
  readonly lines: readonly string[];
  /** The first line that starts with `prefix`, without the prefix; waits for it. */
  line(prefix: string, timeoutMs?: number): Promise<string>;
  /** Ends its input, by which scripts end, and waits until it is gone. */
  finish(): Promise<void>;
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>;
}

const running = new Set<Script>();

/** Runs a program in a pid namespace of its own, as a container does: it sees no process of ours. Needs root. */
export const OWN_PID_NAMESPACE = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];

/** Starts `scripts/<name>.mjs`, which uses the build, as a process of its own; `launcher` is put before it. */
export function startScript(name: string, args: readonly string[], env: NodeJS.ProcessEnv = {}, launcher: readonly string[] = []): Script {
  const program = fileURLToPath(new URL(`../scripts/${name}.mjs`, import.meta.url));
  const cwd = fileURLToPath(new URL('../../../', import.meta.url));
  const [command = '', ...rest] = [...launcher, process.execPath, ...NODE_FLAGS, program, ...args];
  const child = spawn(command, rest, { cwd, env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', (line) => lines.push(line));
  const ended = once(child, 'close');
  const script: Script = {
    child,
    pid: child.pid ?? 0,
    lines,
    line: (prefix, timeoutMs = 50_000) => waitForLine(script, prefix, timeoutMs),
    async finish() {
      child.stdin.end();
      await ended;
      running.delete(script);
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
      running.delete(script);
    },
  };
  running.add(script);
  return script;
}

/** Kills what a failed test left running. */
export async function killLeftScripts(): Promise<void> {
  await Promise.all(Array.from(running, (script) => script.kill()));
}

async function waitForLine(script: Script, prefix: string, timeoutMs: number): Promise<string> {
  return vi.waitFor(
    () => {
      const found = script.lines.find((line) => line.startsWith(prefix));
      if (found === undefined) throw new Error(`no line ${JSON.stringify(prefix)} yet; so far: ${script.lines.join(' | ')}`);
      return found.slice(prefix.length).trim();
    },
    { timeout: timeoutMs, interval: 10 },
  );
}
