import { Client, type WorkflowHandle } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { AgentClient } from '../../src/client/index.js';
import type { Message } from '../../src/contracts/schemas/message.js';
import type { TranscriptPage } from '../../src/contracts/schemas/page.js';
import type { RunResult } from '../../src/contracts/schemas/run.js';
import { createDataConverter } from '../../src/worker/data-converter.js';
import { useTempFolder } from '../support/temp-folder.js';
import { useWorkers } from '../support/use-workers.js';
import { executionsOf, LONG_RUN_INPUT, LONG_RUN_MS_MAX, LONG_RUN_TURNS, longRunId, longRunOptions } from './support/long-run.js';

/** Windows of models. In the second one nothing of a long run is compacted. */
const WINDOW = 128_000;
const ENDLESS_WINDOW = 1_000_000_000;

describe('A10: a plain Temporal client, without any of our options, and a run of hundreds of turns with results of 8 KiB', () => {
  const { worker } = useWorkers();
  const artifactsDir = useTempFolder('perdure-artifacts-');

  it('starts it, reads its result and its transcript, and continues it', { timeout: LONG_RUN_MS_MAX }, async ({ annotate }) => {
    const { plain, taskQueue, run, messages, said } = await longRun(WINDOW);
    await annotate(said);
    const input = { v: 1, task: 'Which was the last?', messages, continuedFrom: run.workflowId };
    const next = await plain.workflow.start('agentRun', { taskQueue, workflowId: `${run.workflowId}.2`, args: [input] });
    expect(await next.result()).toMatchObject({ reason: 'completed', output: `the last was ${LONG_RUN_TURNS - 1}`, turns: 1 });
  });

  it('reads it whole where nothing was compacted; a client with the data converter of the workers continues it', {
    timeout: LONG_RUN_MS_MAX,
  }, async ({ annotate }) => {
    const { plain, taskQueue, run, messages, said, dataConverter } = await longRun(ENDLESS_WINDOW);
    await annotate(said);
    // the task, and a call with its result in each turn but the last
    expect(messages).toHaveLength(2 * LONG_RUN_TURNS);
    const client = await AgentClient.connect({ connection: plain.connection, taskQueue, dataConverter });
    const next = await client.get(run.workflowId).continue({ text: 'Which was the last?' });
    expect(await next.run.result()).toMatchObject({ reason: 'completed', output: `the last was ${LONG_RUN_TURNS - 1}`, turns: 1 });
  });

  /** Runs it to its end over a plain client, which reads its result and all its messages. */
  async function longRun(contextWindow: number) {
    const dataConverter = createDataConverter({ artifactsDir: artifactsDir.path });
    const on = await worker({ ...longRunOptions(contextWindow), dataConverter });
    const plain = new Client({ connection: on.client.connection });
    const { taskQueue } = on;
    const startedAt = Date.now();
    const run = await plain.workflow.start<() => Promise<RunResult>>('agentRun', {
      taskQueue,
      workflowId: longRunId(),
      args: [LONG_RUN_INPUT] as never,
    });
    const result = await run.result();
    const seconds = Math.round((Date.now() - startedAt) / 1_000);
    expect(result).toMatchObject({ reason: 'completed', output: 'done', turns: LONG_RUN_TURNS });
    const messages = await messagesOf(run);
    const { count, events, bytes } = await executionsOf(plain.workflow, run.workflowId);
    expect(count).toBeGreaterThan(1);
    const said =
      `${result.turns} turns in ${seconds} s; ${count} executions, ${events} events, ${mib(bytes)} of history; ` +
      `transcript of ${messages.length} messages, ${mib(JSON.stringify(messages).length)}`;
    return { plain, taskQueue, run, messages, said, dataConverter };
  }
});

const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

/** All messages of a run, page by page. No message here is larger than a page. */
async function messagesOf(run: WorkflowHandle): Promise<Message[]> {
  const messages: Message[] = [];
  for (let from = 0; ; ) {
    const page = await run.query<TranscriptPage, [object]>('transcript', { from });
    messages.push(...page.messages);
    if (page.next >= page.length) return messages;
    from = page.next;
  }
}
