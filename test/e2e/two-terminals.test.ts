import { describe, expect, it } from 'vitest';
import { until } from '../support/use-workers.js';
import { type PerdureFolder, usePerdureFolders } from './support/perdure-folder.js';
import { messagesOf } from './support/request-messages.js';
import { modelEnv, useModels } from './support/use-models.js';

const CALL_THEN_END = { steps: [{ toolCalls: [{ name: 'send_once', args: { name: 'a' } }] }, { text: 'read {{lastUser}}' }] };

describe('two terminals: one runs, the other directs', () => {
  const folder = usePerdureFolders();
  const model = useModels();

  it('steers, pauses and resumes: the model reads both messages in their order, and `show` says what the Web UI says', async () => {
    const wire = await model({ script: CALL_THEN_END });
    const here = await folder(modelEnv(wire));
    await here.hold();
    const run = here.start(['run', 'first task', '--model', 'openai/test', '--id', 'r1']);
    await here.started('send_once');
    expect(await here.json(['show', 'r1'])).toMatchObject({ progress: { status: 'running', phase: 'tools', turn: 1 } });
    expect(await webUi(here, 'r1')).toEqual({ status: 'WORKFLOW_EXECUTION_STATUS_RUNNING', attribute: 'running' });
    expect(await currentDetails(here, 'r1')).toContain('running');

    expect(await here.json(['steer', 'r1', 'one more thing', '--id', 's1'])).toEqual({ runId: 'r1', id: 's1' });
    await here.type(['steer', 'r1', 'one more thing', '--id', 's1']);
    await here.type(['pause', 'r1']);
    await here.type(['steer', 'r1', 'and another']);
    await here.release();
    await run.prints('paused');
    expect(await here.json(['show', 'r1'])).toMatchObject({ progress: { status: 'paused', waitingFor: 'resume', inbox: 2 } });
    await until(async () => (await webUi(here, 'r1')).attribute === 'paused', 'the attribute to say paused');
    expect(await currentDetails(here, 'r1')).toContain('paused');
    expect(wire.requests).toHaveLength(1);

    await here.type(['resume', 'r1']);
    expect((await run.exits(0)).stdout).toBe('read and another\n');
    const texts = JSON.stringify(messagesOf(wire.requests[1]));
    expect(texts.split('one more thing')).toHaveLength(2);
    const order = ['send_once a done', 'one more thing', 'and another'].map((text) => texts.indexOf(text));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(order).not.toContain(-1);
    const shown = await here.json(['show', 'r1']);
    expect(shown).toMatchObject({ progress: { status: 'completed', turn: 2 }, result: { reason: 'completed', turns: 2, unconsumed: [] } });
    expect(await webUi(here, 'r1')).toEqual({ status: 'WORKFLOW_EXECUTION_STATUS_COMPLETED', attribute: 'completed' });
    await here.type(['steer', 'r1', 'too late'], 4);
  });

  it('cancels: the running tool is stopped, the first terminal exits 130, and the result tells what was stopped', async () => {
    const wire = await model({ script: CALL_THEN_END });
    const here = await folder(modelEnv(wire));
    await here.hold();
    const run = here.start(['run', 'go', '--model', 'openai/test', '--id', 'r1', '--json']);
    await here.started('send_once');
    const cancelledAt = Date.now();
    expect(await here.json(['cancel', 'r1', '--reason', 'enough'])).toEqual({ runId: 'r1', cancelRequested: true });
    const { stdout } = await run.exits(130);
    expect(Date.now() - cancelledAt).toBeLessThan(20_000);
    expect(JSON.parse(stdout)).toMatchObject({ runId: 'r1', reason: 'cancelled', turns: 1 });
    expect((await here.effects()).map(({ what }) => what)).toEqual(['start']);
    expect(wire.requests).toHaveLength(1);
    expect(await webUi(here, 'r1')).toEqual({ status: 'WORKFLOW_EXECUTION_STATUS_COMPLETED', attribute: 'cancelled' });
    expect((await here.type(['cancel', 'r1'])).stderr).toContain('r1: already cancelled');
    await here.type(['watch', 'r1', '--no-worker'], 130);
  });

  it('extends the caps of the live run, which then goes on past its first cap', async () => {
    const look = { toolCalls: [{ name: 'look', args: { name: '{{turn}}' } }] };
    const wire = await model({ script: { steps: [look, look, look, { text: 'done after all' }], final: { text: 'no time' } } });
    const here = await folder(modelEnv(wire));
    await here.hold();
    const run = here.start(['run', 'go', '--model', 'openai/test', '--id', 'r1', '--max-turns', '2', '--json']);
    await here.started('look');
    expect(await (await here.client()).get('r1').extend({ turns: 3 })).toMatchObject({ turn: 1, maxTurns: 5 });
    await here.release();
    const { stdout } = await run.exits(0);
    expect(JSON.parse(stdout)).toMatchObject({ reason: 'completed', turns: 4, output: 'done after all' });
  });

  it('a cap ends a run with exit 6 and a written answer, and `continue` goes on from there', async () => {
    const look = { toolCalls: [{ name: 'look', args: { name: '{{turn}}' } }] };
    const wire = await model({ script: { steps: [look, look, { text: 'went on' }], final: { text: 'half of it is done' } } });
    const here = await folder(modelEnv(wire));
    const capped = await here.json(['run', 'go', '--model', 'openai/test', '--id', 'r1', '--max-turns', '1'], 6);
    expect(capped).toMatchObject({ reason: 'max_turns', finalized: true, output: 'half of it is done', turns: 1 });
    expect(await here.json(['continue', 'r1', 'finish it'])).toMatchObject({ runId: 'r1.2', reason: 'completed', output: 'went on' });
    const texts = JSON.stringify(messagesOf(wire.requests.at(-1)));
    expect(['go', 'look 1 done', 'finish it'].map((text) => texts.includes(text))).toEqual([true, true, true]);
  });
});

/** What the Web UI's own server tells of a run. */
async function webUi(here: PerdureFolder, runId: string): Promise<{ status: unknown; attribute: unknown }> {
  const { uiUrl } = await here.server();
  const response = await fetch(`${uiUrl}/api/v1/namespaces/default/workflows/${runId}`);
  const described = (await response.json()) as {
    workflowExecutionInfo: { status: string; searchAttributes: { indexedFields: Record<string, { data: string }> } };
  };
  const { status, searchAttributes } = described.workflowExecutionInfo;
  const data = searchAttributes.indexedFields['AgentStatus']?.data ?? 'null';
  return { status, attribute: JSON.parse(Buffer.from(data, 'base64').toString()) };
}

/** The Markdown that the Web UI shows as the run's current details. */
async function currentDetails(here: PerdureFolder, runId: string): Promise<string> {
  const handle = (await here.temporal()).workflow.getHandle(runId);
  return JSON.stringify(await handle.query('__temporal_workflow_metadata'));
}
