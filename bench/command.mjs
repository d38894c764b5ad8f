import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PERDURE = fileURLToPath(new URL('../bin/perdure', import.meta.url));

/** Starts one `perdure` command; `lines` are what it printed so far, both channels. */
export function startCommand(args, { cwd, env }) {
  const startedAt = Date.now();
  const child = spawn(process.execPath, [PERDURE, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) =>
      lines.push(
        ...text
          .split('\n')
          .filter(Boolean)
          .map((line) => ({ line, at: Date.now() })),
      ),
    );
  }
  const exited = once(child, 'exit').then(([code]) => code);
  return {
    pid: child.pid,
    startedAt,
    lines,
    exited,
    async kill(signal) {
      child.kill(signal);
      await exited;
    },
  };
}

/** Runs one command to its end; throws with what it printed when it fails. Gives its duration in milliseconds. */
export async function runCommand(args, place) {
  const command = startCommand(args, place);
  const code = await command.exited;
  if (code !== 0) throw new Error(`perdure ${args.join(' ')} exited with ${code}: ${command.lines.map(({ line }) => line).join('\n')}`);
  return Date.now() - command.startedAt;
}
