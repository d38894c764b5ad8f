import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { Config } from '../../../define/define-config.js';
import type { AnyToolDefinition } from '../../../define/define-tool.js';
import { loadConfig } from '../../../worker/config/load-config.js';
import { type ConnectedWorker, connectWorker } from '../../../worker/connect-worker.js';
import { recoverAgain, recoverDeadWorkers } from '../../../worker/recovery/recover-dead-workers.js';
import { recordWorker } from '../../../worker/recovery/worker-record.js';
import { openStateFolder } from '../../../worker/state-folder/state-folder.js';
import { newIdentityWithStore } from '../../../worker/storage/queue-store.js';
import { BoundaryGate, send } from './boundary-gate.js';
import { boundaryInterceptor } from './boundary-interceptor.js';
import { observeTools } from './observe-tools.js';
import { type ToolFacts, ToWorker, WorkerSettings } from './protocol.js';
import { SlowDisk } from './slow-disk.js';

// A worker process of the crash harness: the user's config on the project's own worker, with its boundaries and effects observed.
// Argument: WorkerSettings as JSON. It exits with its harness.

const RETRY_MS = 200;

const settings = WorkerSettings.parse(JSON.parse(process.argv[2] ?? ''));
const say = (line: string): void => void process.stderr.write(`${new Date().toISOString()} worker ${process.pid}: ${line}\n`);
const stopping = new AbortController();
const gate = new BoundaryGate();
const disk = new SlowDisk(settings.stateDir);

process.once('disconnect', () => process.exit(1));
process.once('SIGTERM', () => stopping.abort());
process.on('message', (given) => {
  const message = ToWorker.parse(given);
  if (message.kind === 'go') gate.open(message.ticket);
  else disk.delayMs = message.delayMs;
});

const config = await loadConfig({ cwd: dirname(settings.configFile), configFile: settings.configFile });
await openStateFolder(settings.stateDir);
const identity = await newIdentityWithStore(config, settings.stateDir);
const record = await recordWorker(settings.stateDir, identity);
const connection = await untilConnected(() => Connection.connect({ address: settings.address }));
const { namespace, taskQueue, stateDir, address } = settings;
const recovery = { client: new Client({ connection, namespace }), taskQueue, stateDir, log: say };
await untilConnected(() => recoverDeadWorkers(recovery));
const lookingAgain = recoverAgain(recovery, { own: identity, signal: stopping.signal });
const connected = await untilConnected(connect);
try {
  await poll(connected);
} finally {
  stopping.abort();
  await lookingAgain;
  await connected.close();
  await connection.close();
}
await record.forget();
process.exit(0);

function connect(): Promise<ConnectedWorker> {
  const { effectLog, bundleFile } = settings;
  return connectWorker({
    connectionOptions: { address },
    namespace,
    taskQueue,
    stateDir,
    identity,
    say,
    terminated: stopping.signal,
    config: { ...config, config: observeTools(withScript(config.config), { effectLog, gate }) },
    overrides: {
      interceptors: { activity: [boundaryInterceptor(gate)] },
      ...(bundleFile === undefined ? {} : { workflowBundle: { codePath: bundleFile } }),
    },
  });
}

/** A script outside the worker's folder is a model only where the config names it. */
function withScript(given: Config): Config {
  return { ...given, models: { ...given.models, [settings.model]: {} } };
}

async function poll({ worker }: ConnectedWorker): Promise<void> {
  const polling = worker.run();
  const shutDown = (): void => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  stopping.signal.addEventListener('abort', shutDown, { once: true });
  if (stopping.signal.aborted) shutDown();
  send({ kind: 'ready', tools: (config.config.tools ?? []).map(factsOf) });
  await polling;
}

function factsOf({ name, pure, reconcile }: AnyToolDefinition): ToolFacts {
  return { name, pure, hasReconcile: reconcile !== undefined };
}

/** Repeats until the server answers: a worker may start while it is down. */
async function untilConnected<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      say(`waiting for the server: ${error instanceof Error ? error.message : String(error)}`);
      await delay(RETRY_MS, undefined, { signal: stopping.signal });
    }
  }
}
