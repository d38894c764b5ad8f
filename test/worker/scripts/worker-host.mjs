import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { openDevServer } from '../../../dist/worker/dev-server/dev-server.js';
import { RunningCalls } from '../../../dist/worker/hosting/running-calls.js';
import { hostEmbeddedWorker } from '../../../dist/worker/recovery/embedded-worker.js';

// worker-host <state folder> <config hash> <bundle>: hosts the folder's worker until its input ends. Its activity waits, heartbeating,
// until a file of its name is in the folder. The bundle is that of `waiting-workflows.ts`.
const [stateDir = '', configHash = '', codePath = ''] = process.argv.slice(2);
const say = (line) => console.log(`say ${line}`);
Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });

async function wait(name) {
  console.log(`started ${name}`);
  while (!existsSync(join(stateDir, name))) {
    Context.current().heartbeat({ phase: `waiting for ${name}` });
    await pause(50);
  }
  return `done by ${process.pid}`;
}

const devServer = await openDevServer({ stateDir, say });
const { address, namespace } = devServer;
const server = { connectionOptions: { address }, namespace };
const hosted = hostEmbeddedWorker({
  stateDir,
  server,
  taskQueue: 'waiting',
  configHash,
  say,
  async makeWorker(identity) {
    const connection = await NativeConnection.connect({ address });
    const activities = { wait };
    const calls = new RunningCalls();
    const interceptors = { activity: [calls.interceptor] };
    const options = { connection, namespace, identity, taskQueue: 'waiting', workflowBundle: { codePath }, activities, interceptors };
    const worker = await Worker.create({ ...options, shutdownGraceTime: '1h', maxHeartbeatThrottleInterval: '200ms' });
    return { worker, calls };
  },
});
await hosted.ready;
console.log(`ready ${hosted.holding()}`);
for await (const _ of process.stdin) continue;
await hosted.stop();
await devServer.close();
console.log('stopped');
