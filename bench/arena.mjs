import { copyFileSync, existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { AgentClient } from '../dist/client/index.js';
import { openDevServer } from '../dist/worker/dev-server/dev-server.js';
import { createWorker, loadConfig } from '../dist/worker/index.js';
import { startModel } from './model.mjs';

const CONFIG = fileURLToPath(new URL('perdure.config.mjs', import.meta.url));

/** What all scenarios share: one model server, and one embedded Temporal server on a file in a folder of its own. */
export async function openArena(say) {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const folder = await mkdtemp(join(tmpdir(), 'perdure-bench-'));
  const model = await startModel();
  const marks = join(folder, 'marks.jsonl');
  Object.assign(process.env, {
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_API_KEY: model.apiKey,
    BENCH_MARKS: marks,
    BENCH_RELEASE: join(folder, 'released'),
  });
  const env = { ...process.env };
  copyFileSync(CONFIG, join(folder, 'perdure.config.mjs'));
  const stateDir = join(folder, '.perdure');
  const server = await openDevServer({ stateDir, say });
  const config = await loadConfig({ cwd: folder });
  const native = await NativeConnection.connect({ address: server.address });
  return {
    folder,
    model,
    server,
    native,
    /** For processes of their own: the keys are taken out of this one. */
    env,
    /** A fresh folder with the same config, for a command that starts from nothing. */
    async emptyFolder() {
      const empty = await mkdtemp(join(tmpdir(), 'perdure-bench-'));
      copyFileSync(CONFIG, join(empty, 'perdure.config.mjs'));
      return { path: empty, remove: () => rm(empty, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 }) };
    },
    /** What the tools wrote down. */
    async marks() {
      if (!existsSync(marks)) return [];
      return (await readFile(marks, 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    },
    /** Runs `work` while a worker of this process serves a queue of its own. */
    async withWorker(taskQueue, work) {
      const worker = await createWorker({ connection: native, taskQueue, config, stateDir });
      const client = await AgentClient.connect({ address: server.address, taskQueue });
      try {
        return await worker.runUntil(work(client));
      } finally {
        await client.close();
      }
    },
    async close() {
      await native.close();
      await server.close();
      await model.stop();
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 500 });
    },
  };
}
