// One worker in a process of its own, so that its CPU time and its memory are nobody else's. It serves either peer:
// `perdure`: agent runs of the build in BENCH_DIST; `bare`: two bare activities a turn.
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { createPeerActivities } from './activities.mjs';

const [kind, address, taskQueue, folder] = process.argv.slice(2);
const DIST = process.env.BENCH_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url));

Runtime.install({ logger: new DefaultLogger('ERROR') });
const connection = await NativeConnection.connect({ address });
const worker = await (kind === 'perdure' ? perdureWorker() : bareWorker());
const ended = worker.run();

process.on('message', (what) => {
  if (what === 'usage') process.send(usage());
  else worker.shutdown();
});
process.send('ready');
await ended;
await connection.close();
process.disconnect();

async function perdureWorker() {
  const { createWorker, loadConfig } = await import(pathToFileURL(join(DIST, 'worker/index.js')).href);
  const config = await loadConfig({ cwd: folder });
  return createWorker({ connection, taskQueue, config, stateDir: join(folder, '.perdure') });
}

async function bareWorker() {
  const ignore = () => undefined;
  const logger = { log: ignore, trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };
  const workflowsPath = fileURLToPath(new URL('workflows.mjs', import.meta.url));
  const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger });
  const model = { baseUrl: process.env.OPENAI_BASE_URL, apiKey: process.env.OPENAI_API_KEY };
  const activities = createPeerActivities(model);
  // as many activities at once as an agent's worker runs
  return Worker.create({ connection, taskQueue, workflowBundle, activities, maxConcurrentActivityTaskExecutions: 200 });
}

function usage() {
  global.gc?.();
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1_000, rssKiB: process.memoryUsage.rss() / 1_024 };
}
