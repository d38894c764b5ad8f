import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection, type WorkflowClient } from '@temporalio/client';
import { expect, inject, test } from 'vitest';
import { usePerdureFolders } from './support/perdure-folder.js';
import { modelEnv, useModels } from './support/use-models.js';

const WORKER = fileURLToPath(new URL('fixtures/foreign-worker/worker.mjs', import.meta.url));

const REVIEW = [{ toolCalls: [{ name: 'send_once', args: { name: 'a' } }] }, { text: 'reviewed: {{lastUser}}' }];
const JUDGEMENT = { text: '{ "approved": true }' };

const folder = usePerdureFolders();
const model = useModels();

test("PerdurePlugin: a foreign worker's own workflow lets an agent work as its child, and is a run like any other; D1: a schema types its answer", async () => {
  const wire = await model({
    handler: ({ lastUser, answered }) => (lastUser === 'judge it' ? JUDGEMENT : (REVIEW[answered] ?? JUDGEMENT)),
  });
  const here = await folder({ ...modelEnv(wire), TEMPORAL_ADDRESS: inject('temporalAddress') });
  const taskQueue = `e2e-foreign-${process.pid}`;
  const worker = here.startScript(WORKER, [inject('temporalAddress'), taskQueue, here.stateDir]);
  await worker.prints('polling');
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  try {
    const { workflow } = new Client({ connection });
    const agentId = `${taskQueue}-agent`;
    const args = [{ task: 'look at it', model: 'anthropic/test', agentId }];
    const result: unknown = await workflow.execute('review', { taskQueue, workflowId: `${taskQueue}-review`, args });
    expect(result).toEqual({ stamp: 'stamped look at it', reason: 'completed', output: 'reviewed: look at it', toolCalls: 1 });
    expect((await here.effects()).map(({ what, pid }) => [what, pid])).toEqual([
      ['start', worker.pid],
      ['end', worker.pid],
    ]);
    const shown = await here.json(['show', agentId, '--task-queue', taskQueue]);
    expect(shown).toMatchObject({ progress: { status: 'completed', turn: 2 }, result: { runId: agentId, reason: 'completed' } });
    const { raw } = await workflow.getHandle(agentId).describe();
    expect(raw.workflowExecutionInfo?.parentExecution?.workflowId).toBe(`${taskQueue}-review`);
    await typesAnswers(workflow, taskQueue);
    expect(JSON.stringify(wire.requests.map(({ body }) => body))).toContain('approved');
  } finally {
    await connection.close();
  }
  expect(await worker.kill('SIGTERM')).toMatchObject({ code: 0 });
});

test('D5: a foreign worker whose workflows file forgot the agent workflow does not start, and names the line that is missing', async () => {
  const here = await folder({ TEMPORAL_ADDRESS: inject('temporalAddress') });
  const worker = here.startScript(WORKER, [inject('temporalAddress'), 'e2e-forgetful', here.stateDir, 'forgetful-workflows.mjs']);
  const { stdout, stderr } = await worker.exits(1);
  expect(stdout).not.toContain('polling');
  const forgetful = join(dirname(WORKER), 'forgetful-workflows.mjs');
  const problem = `${forgetful} does not export the workflow agentRun, so no run could start. Add: export { agentRun } from 'perdure/workflows'`;
  expect(stderr.split('\n').filter((line) => line.includes(problem))).toHaveLength(1);
  expect(stderr).toContain("code: 'NO_AGENT_RUN'");
});

/** D1: workflow code gives executeAgent a schema of zod 4 and gets a typed answer; one of zod 3 is refused. */
async function typesAnswers(workflow: WorkflowClient, taskQueue: string): Promise<void> {
  const args = [{ task: 'judge it', model: 'anthropic/test' }];
  expect(await workflow.execute('judge', { taskQueue, workflowId: `${taskQueue}-1`, args })).toBe(true);
  const refused = workflow.execute('judgeWithZod3', { taskQueue, workflowId: `${taskQueue}-2`, args });
  const message = 'outputSchema: a schema of zod 3. Use zod 4, or JSON Schema.';
  await expect(refused).rejects.toMatchObject({ cause: { type: 'Input.Invalid', message } });
}
