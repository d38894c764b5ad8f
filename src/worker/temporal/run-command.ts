import { spawn } from 'node:child_process';

/** Options of `runCommand`. */
export interface RunCommandOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

const TAIL_CHARS_MAX = 4_000;

/** Runs a program until it exits. Rejects with its last output line if it cannot start or exits with a code other than 0. */
export function runCommand(program: string, args: readonly string[], { env, cwd }: RunCommandOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let tail = '';
    const collect = (chunk: Buffer): void => {
      tail = (tail + chunk.toString()).slice(-TAIL_CHARS_MAX);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${program} ${args[0] ?? ''} exited with ${code ?? signal}: ${tail.trim().split('\n').at(-1)}`));
    });
  });
}
