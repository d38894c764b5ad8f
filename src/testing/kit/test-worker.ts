import { randomUUID } from 'node:crypto';
import { IllegalStateError } from '@temporalio/common';
import { DefaultLogger, makeTelemetryFilterString, NativeConnection, Runtime } from '@temporalio/worker';
import { AgentClient } from '../../client/agent-client.js';
import type { AgentActivitiesOptions, CreateWorkerOptions } from '../../worker/create-worker.js';
import { createWorker } from '../../worker/create-worker.js';
import { createDataConverter } from '../../worker/data-converter.js';
import { openStateFolder } from '../../worker/state-folder/state-folder.js';

/** Options of `withTestWorker`. */
export interface TestWorkerOptions extends Pick<CreateWorkerOptions, 'config' | 'stateDir'>, Pick<AgentActivitiesOptions, 'wrapTool'> {
  readonly address: string;
  readonly say: (line: string) => void;
}

/** Time for the calls of a run that has ended. */
const SHUTDOWN_GRACE_MS = 1_000;

/** Does some work with a client whose task queue has a worker in this process. The worker is gone afterwards. */
export async function withTestWorker<Value>(
  { address, ...options }: TestWorkerOptions,
  work: (client: AgentClient) => Promise<Value>,
): Promise<Value> {
  installQuietRuntime();
  const taskQueue = `test-${randomUUID()}`;
  const { artifacts } = await openStateFolder(options.stateDir);
  const connection = await NativeConnection.connect({ address });
  try {
    const worker = await createWorker({ ...options, connection, taskQueue, overrides: { shutdownGraceTime: SHUTDOWN_GRACE_MS } });
    const dataConverter = createDataConverter({ artifactsDir: artifacts });
    return await worker.runUntil(async () => {
      const client = await AgentClient.connect({ address, taskQueue, dataConverter });
      try {
        return await work(client);
      } finally {
        await client.close();
      }
    });
  } finally {
    await connection.close();
  }
}

let isInstalled = false;

/** The SDK logs each start of a worker, and takes over the signals of the process, which belong to the test runner. */
function installQuietRuntime(): void {
  if (isInstalled) return;
  isInstalled = true;
  try {
    Runtime.install({
      logger: new DefaultLogger('ERROR'),
      telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }), forward: {} } },
      shutdownSignals: [],
    });
  } catch (error) {
    // a runtime of the test's own stays
    if (!(error instanceof IllegalStateError)) throw error;
  }
}
