import { runCommand, startCommand } from '../command.mjs';
import { until } from '../until.mjs';

/** (e): a worker is killed in the middle of a model call; how long until the next request, once the new process is ready? */
export async function recovery(arena) {
  const place = { cwd: arena.folder, env: arena.env };
  await arena.model.takeTimes();
  const killed = startCommand(['run', JSON.stringify({ turns: 3, stallAt: 1 }), '--id', 'bench-recovery'], place);
  let requests = 0;
  await until(async () => (requests += (await arena.model.takeTimes()).length) >= 2, 'the request that is never answered');
  await killed.kill('SIGKILL');
  const next = startCommand(['worker'], place);
  const [asked] = await until(async () => nonEmpty(await arena.model.takeTimes()), 'the request after the kill');
  const ready = await until(() => next.lines.find(({ line }) => line.startsWith('worker on queue')), 'the new worker to say that it works');
  await runCommand(['watch', 'bench-recovery'], place);
  await next.kill('SIGTERM');
  return {
    readyMs: ready.at - next.startedAt,
    nextRequestAfterStartMs: asked - next.startedAt,
    nextRequestAfterReadyMs: Math.max(0, asked - ready.at),
  };
}

function nonEmpty(times) {
  return times.length > 0 ? times : undefined;
}
