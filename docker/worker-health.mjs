// The health check of the container: exits with 0 if a worker of this host polled the task queue within the last 75 s, else with 1.
// Prints the reason.
import { hostname } from 'node:os';
import { Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';

const POLL_AGE_SECONDS_MAX = 75;
const taskQueue = process.argv[2] ?? 'perdure';

const { connectionOptions, namespace = 'default' } = loadClientConnectConfig();
const connection = await Connection.connect({ ...connectionOptions, connectTimeout: '5s' });
const { pollers } = await connection.workflowService.describeTaskQueue({ namespace, taskQueue: { name: taskQueue } });
const oldest = Date.now() / 1_000 - POLL_AGE_SECONDS_MAX;
const isPolling = pollers.some(({ identity, lastAccessTime }) => identity.includes(hostname()) && Number(lastAccessTime?.seconds) > oldest);
console.log(isPolling ? `polling ${taskQueue}` : `no worker on ${hostname()} polls ${taskQueue}`);
await connection.close();
process.exitCode = isPolling ? 0 : 1;
