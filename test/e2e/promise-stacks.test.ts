import { fileURLToPath } from 'node:url';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { describe, expect, inject, it } from 'vitest';
import { until } from '../support/use-workers.js';
import { usePerdureFolders, WAIT_MS_MAX } from './support/perdure-folder.js';
import { modelEnv, useModels } from './support/use-models.js';

const FOREIGN_WORKER = fileURLToPath(new URL('fixtures/foreign-worker/worker.mjs', import.meta.url));
const SCRIPT = { steps: [{ toolCalls: [{ name: 'send_once', args: { name: 'a' } }] }, { text: 'done' }] };

describe('the stacks of workflow code', () => {
  const folder = usePerdureFolders();
  const model = useModels();

  it('no promise has one: capturing them took half of the CPU time of a turn', async () => {
    expect(await stackTraceInTool({})).toBe('');
  });

  it('PERDURE_WORKFLOW_STACKS=1 captures them, for query __stack_trace', async () => {
    expect(await stackTraceInTool({ PERDURE_WORKFLOW_STACKS: '1' })).toMatch(/runTurns .*run-turn/u);
  });

  it('a failed activity has the stack of its own code', async () => {
    const wire = await model({ script: { steps: [{ text: 'too late', fault: { status: 400 } }, { text: 'done' }] } });
    const here = await folder(modelEnv(wire));
    const other = here.start(['dev']);
    await until(async () => (await here.server().catch(() => undefined)) !== undefined, 'a server', WAIT_MS_MAX);
    await here.run(['run', 'do it', '--model', 'openai/test', '--id', 'r1']);
    const [failure] = await failuresOf((await here.temporal()).workflow.getHandle('r1'));
    expect(failure?.stackTrace).toMatch(/at .*\.js:\d+/u);
    await other.kill('SIGTERM');
  });

  it('a failed workflow task of a foreign worker names its error and where it was thrown', async () => {
    const here = await folder({ TEMPORAL_ADDRESS: inject('temporalAddress') });
    const taskQueue = `e2e-stacks-${process.pid}`;
    const worker = here.startScript(FOREIGN_WORKER, [inject('temporalAddress'), taskQueue, here.stateDir]);
    await worker.prints('polling');
    const connection = await Connection.connect({ address: inject('temporalAddress') });
    try {
      const handle = await new Client({ connection }).workflow.start('broken', { taskQueue, workflowId: taskQueue });
      await until(async () => (await failuresOf(handle)).length > 0, 'the failed workflow task');
      const [failure] = await failuresOf(handle);
      expect(failure).toMatchObject({ message: 'it broke', stackTrace: expect.stringMatching(/at broken \(.*workflows\.mjs:\d+/u) });
      await handle.terminate();
    } finally {
      await connection.close();
    }
    await worker.kill('SIGTERM');
  });

  /** What query `__stack_trace` answers while a run is in a tool. */
  async function stackTraceInTool(env: NodeJS.ProcessEnv): Promise<unknown> {
    const wire = await model({ script: SCRIPT });
    const here = await folder({ ...modelEnv(wire), ...env });
    await here.hold();
    const run = here.start(['run', 'do it', '--model', 'openai/test', '--id', 'r1']);
    await here.started('send_once');
    const answer = await (await here.temporal()).workflow.getHandle('r1').query('__stack_trace');
    await here.release();
    await run.exits(0);
    return answer;
  }
});

type Failure = { readonly message?: string | null; readonly stackTrace?: string | null };

/** The failures of activities and workflow tasks in a history. */
async function failuresOf(handle: WorkflowHandle): Promise<Failure[]> {
  const { events } = await handle.fetchHistory();
  return (events ?? []).flatMap(
    (event) => event.activityTaskFailedEventAttributes?.failure ?? event.workflowTaskFailedEventAttributes?.failure ?? [],
  );
}
