// Answers a complaint with a worker in this process: node start.mjs c1. Typed again, after a kill too, it continues the same workflow.
import { Client, Connection, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { DefaultLogger, NativeConnection, PromiseCompletionTimeoutError, Runtime, Worker } from '@temporalio/worker';
import { listSearchAttributes } from 'perdure/worker';
import * as activities from './activities.mjs';
import { createDataConverter } from './encryption.mjs';
import { createPlugin } from './plugin.mjs';

const taskQueue = 'complaints';
const address = process.env['TEMPORAL_ADDRESS'] ?? '127.0.0.1:7233';
const id = process.argv[2] ?? 'c1';

Runtime.install({ logger: new DefaultLogger('WARN') });
const connection = await NativeConnection.connect({ address });
const plugins = [await createPlugin(await listSearchAttributes(connection, 'default'))];
const dataConverter = await createDataConverter();
const worker = await Worker.create({
  connection,
  taskQueue,
  workflowBundle: { codePath: 'workflow-bundle.js' },
  activities,
  dataConverter,
  plugins,
});

const { workflow } = new Client({ connection: await Connection.connect({ address }), dataConverter, plugins });
console.log(`answering complaint ${id}; to test a crash, type: kill -9 ${process.pid}`);
try {
  const { reason, letter } = await worker.runUntil(async () => await (await startOnce()).result());
  console.log(letter ?? `no letter was sent: ${reason}`);
} catch (error) {
  // Ctrl-C ended the worker; the workflow waits for the next one
  if (!(error instanceof PromiseCompletionTimeoutError)) throw error;
  console.log('stopped; type the command again to continue');
}
await workflow.connection.close();
await connection.close();

/** Starts the workflow of this complaint, or finds the one that was started before. */
async function startOnce() {
  const workflowId = `complaint-${id}`;
  const args = [{ id, order: 7, text: 'It arrived broken.' }];
  try {
    return await workflow.start('answerComplaint', { taskQueue, workflowId, workflowIdReusePolicy: 'REJECT_DUPLICATE', args });
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return workflow.getHandle(workflowId);
    throw error;
  }
}
