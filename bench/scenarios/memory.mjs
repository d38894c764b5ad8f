import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { AgentClient } from '../../dist/client/index.js';
import { startCommand } from '../command.mjs';
import { until } from '../until.mjs';

/** (g): what a worker process holds while a hundred runs wait in a tool. */
export async function memory(arena, { runs = 100 } = {}) {
  const taskQueue = 'bench-memory';
  const before = (await arena.marks()).length;
  const env = { ...arena.env, TEMPORAL_ADDRESS: arena.server.address };
  const worker = startCommand(['worker', '--no-supervisor', '--task-queue', taskQueue], { cwd: arena.folder, env });
  const client = await AgentClient.connect({ address: arena.server.address, taskQueue });
  const started = await Promise.all(
    Array.from({ length: runs }, (_, index) => client.start({ task: JSON.stringify({ turns: 2, tool: 'wait', index }) })),
  );
  await until(async () => (await arena.marks()).length >= before + runs, 'all runs to wait in the tool', 120_000);
  const rssMiB = Math.round(Number(/VmRSS:\s+(\d+)/u.exec(readFileSync(`/proc/${worker.pid}/status`, 'utf8'))[1]) / 1_024);
  writeFileSync(arena.env.BENCH_RELEASE, '');
  await Promise.all(started.map(({ run }) => run.result()));
  rmSync(arena.env.BENCH_RELEASE);
  await client.close();
  await worker.kill('SIGTERM');
  return { runs, rssMiB };
}
