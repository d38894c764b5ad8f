import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { BACKGROUND_LIMITS } from '../../contracts/constants/limits.js';
import { commandEnvironment } from '../../process/command-sandbox.js';
import { engineEnvironment } from '../../process/sandbox/container.js';
import type { HolderAnswer, HolderOrder } from './hold-command.js';

/** What a holder is started with. */
export interface HolderStart {
  /** The path of its program. */
  readonly program: string;
  /** The state folder, which no command sees. */
  readonly stateDir: string;
  readonly order: HolderOrder;
  readonly signal: AbortSignal;
}

const Answer = z.union([z.object({ kind: z.enum(['started', 'exists']) }), z.object({ kind: z.literal('failed'), message: z.string() })]);

/**
 * Starts a holder, which outlives this process. It has the environment of commands, and no key. Resolves with its answer. After an abort, or
 * without an answer within 30 s, it is killed, and its command with it.
 */
export async function startHolder({ program, stateDir, order, signal }: HolderStart): Promise<HolderAnswer> {
  signal.throwIfAborted();
  const child = spawn(process.execPath, [program, order.folder], {
    cwd: '/',
    detached: true,
    env: { ...engineEnvironment(process.env), ...commandEnvironment(process.env), PERDURE_DIR: stateDir },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  try {
    await once(child, 'spawn');
    // one that dies early breaks the pipe
    child.stdin?.on('error', () => undefined).end(JSON.stringify(order));
    return await answerOf(child, signal);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  } finally {
    for (const stream of child.stdio) stream?.destroy();
    child.unref();
  }
}

async function answerOf(child: ChildProcess, signal: AbortSignal): Promise<HolderAnswer> {
  const over = new AbortController();
  try {
    const late = delay(BACKGROUND_LIMITS.startMsMax, undefined, { signal: AbortSignal.any([signal, over.signal]) });
    const line = await Promise.race([firstLine(child), late]);
    if (line !== undefined) return Answer.parse(JSON.parse(line));
  } finally {
    over.abort();
  }
  throw new Error(`FAILED: the command did not start within ${BACKGROUND_LIMITS.startMsMax / 1_000} s`);
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  if (stdout) for await (const line of createInterface({ input: stdout })) return line;
  throw new Error('FAILED: the process that holds the command ended before the command started');
}
