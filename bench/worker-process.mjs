import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('peers/turn-worker.mjs', import.meta.url));

/** Runs `work` while a worker process of this kind serves a queue of its own: `usage` gives its CPU time so far and its memory. */
export async function withWorkerProcess(arena, { kind, taskQueue, dist, execArgv = [] }, work) {
  const env = { ...arena.env, ...(dist === undefined ? {} : { BENCH_DIST: dist }) };
  const child = fork(SCRIPT, [kind, arena.server.address, taskQueue, arena.folder], { env, execArgv });
  await message(child);
  try {
    return await work({
      pid: child.pid,
      async usage() {
        child.send('usage');
        return message(child);
      },
    });
  } finally {
    const exited = once(child, 'exit');
    child.send('stop');
    await exited;
  }
}

async function message(child) {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the worker process ended with ${code}`);
  });
  // after the message, its end is no error
  ended.catch(() => undefined);
  const [received] = await Promise.race([once(child, 'message'), ended]);
  return received;
}
