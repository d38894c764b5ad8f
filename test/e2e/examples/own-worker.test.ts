import { readdir, readFile } from 'node:fs/promises';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { historyText } from '../../support/histories/history-text.js';
import { until } from '../../support/use-workers.js';
import { useExample } from './support/example-folder.js';

const LETTER = 'We are sorry that your order arrived broken. We refunded 49 euros for order 7, and you need not send anything back.';

describe('D3: a plugin in a worker of its own, with a workflow, activities and a data converter of its own', () => {
  const example = useExample('own-worker');

  it("killed in the middle of the agent's turn and started again: one refund, one answer, one letter, and nothing readable", async () => {
    const program = (name: string) => ({ program: example.path(name), TEMPORAL_ADDRESS: inject('temporalAddress') });
    await example.spawn([], program('bundle.mjs')).exits(0);
    const connection = await Connection.connect({ address: inject('temporalAddress') });
    onTestFinished(() => connection.close());
    const { workflow } = new Client({ connection });
    const [complaint, agent] = [workflow.getHandle('complaint-c1'), workflow.getHandle('complaint-c1-agent')];

    const first = example.spawn(['c1'], program('start.mjs'));
    await until(async () => (await refunds()).length === 1 && (await isCallingModel(agent)), 'the turn after the refund', 90_000);
    await first.kill('SIGKILL');
    expect(first.stdout).not.toContain('We are sorry');
    const second = await example.spawn(['c1'], program('start.mjs')).exits(0);
    expect(second.stdout.trimEnd().split('\n').at(-1)).toBe(LETTER);

    expect(await refunds()).toEqual([expect.stringContaining('complaint-c1-agent')]);
    expect(await readdir(example.path('outbox'))).toEqual(['c1.txt']);
    expect(await readFile(example.path('outbox', 'c1.txt'), 'utf8')).toBe(`Dear Ada,\n\n${LETTER}\n`);
    const [ofComplaint, ofAgent] = await Promise.all([complaint, agent].map(countEvents));
    // the order, and the letter
    expect(ofComplaint?.('activityTaskScheduledEventAttributes')).toBe(2);
    expect(ofComplaint?.('childWorkflowExecutionCompletedEventAttributes')).toBe(1);
    // the model call that was killed
    expect(ofAgent?.('activityTaskTimedOutEventAttributes')).toBe(1);
    const { raw } = await agent.describe();
    expect(raw.workflowExecutionInfo?.parentExecution?.workflowId).toBe('complaint-c1');
    const shown = (await Promise.all([complaint, agent].map((run) => run.fetchHistory()))).map(historyText);
    for (const text of shown) expect(text).toContain('binary/encrypted');
    for (const text of shown) expect(text).not.toMatch(/broken|refunded/u);
  });

  async function refunds(): Promise<string[]> {
    const text = await readFile(example.path('refunds.jsonl'), 'utf8').catch(() => '');
    return text.split('\n').filter((line) => line !== '');
  }
});

/** Whether a worker runs a model call of the run now. */
async function isCallingModel(run: WorkflowHandle): Promise<boolean> {
  const { raw } = await run.describe();
  return raw.pendingActivities?.some(({ activityType, lastStartedTime }) => activityType?.name === 'callModel' && lastStartedTime) ?? false;
}

/** Counts the events of a run's history by the field of their kind. */
async function countEvents(run: WorkflowHandle) {
  const { events } = await run.fetchHistory();
  return (field: keyof NonNullable<typeof events>[number]) => events?.filter((event) => event[field]).length;
}
