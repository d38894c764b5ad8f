import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { createAcceptAnswer } from '../../../src/activities/answer/accept-answer.js';
import { TranscriptCache } from '../../../src/activities/transcript/transcript-cache.js';
import type { AcceptAnswerInput, AcceptAnswerResult } from '../../../src/contracts/activities.js';
import { EMPTY_CHAIN, extendChain, hashMessage } from '../../../src/contracts/digest.js';
import type { Message } from '../../../src/contracts/schemas/message.js';
import type { CompletionContext, CompletionGate } from '../../../src/define/agent/completion-gate.js';
import { createTestWorker } from '../../support/test-worker.js';
import { latch } from '../../support/use-workers.js';

const MESSAGES: readonly Message[] = [
  { id: 'task', role: 'user', parts: [{ type: 'text', text: 'Count.' }] },
  { id: 'answer', role: 'assistant', parts: [{ type: 'text', text: '{"total": 3}' }] },
];

const TOTAL = {
  type: 'object',
  properties: { total: { type: 'number' }, when: { type: 'string', format: 'date' } },
  required: ['total'],
  additionalProperties: false,
};

describe('acceptAnswer', () => {
  const taskQueue = `accept-${randomUUID()}`;
  const gates = new Map<string, CompletionGate>();
  const options = {
    transcripts: { cache: new TranscriptCache(1e6), query: () => Promise.reject(new Error('everything was sent')) },
    completionGates: gates,
    gateTimeoutMs: 10_000,
  };
  let client: Client;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    const address = inject('temporalAddress');
    const [connection, nativeConnection] = await Promise.all([Connection.connect({ address }), NativeConnection.connect({ address })]);
    client = new Client({ connection });
    const worker = await createTestWorker({
      connection: nativeConnection,
      taskQueue,
      workflowsPath: fileURLToPath(new URL('scripts/ask-acceptance.ts', import.meta.url)),
      activities: { acceptAnswer: createAcceptAnswer(options) },
      maxHeartbeatThrottleInterval: 100,
    });
    const running = worker.run();
    stop = async () => {
      worker.shutdown();
      await running;
      await nativeConnection.close();
      await connection.close();
    };
  });
  afterAll(() => stop());
  beforeEach(() => {
    gates.clear();
    options.gateTimeoutMs = 10_000;
  });

  it.each([
    ['the whole text', '{"total": 3}'],
    ['the whole text with space around it', '\n  {"total": 3}\n'],
    ['the only code block', 'Here it is:\n```json\n{"total": 3}\n```\nThat is all.'],
    ['a code block of Windows lines', '```\r\n{"total": 3}\r\n```\r\n'],
  ])('the JSON of an answer is %s', async (_, text) => {
    expect(await ask({ text, outputSchema: TOTAL })).toEqual({ accept: true, structured: { total: 3 } });
  });

  it.each([
    ['no JSON', 'There are three.', 'it is not JSON alone: '],
    ['half of it', '{"total": 3', 'it is not JSON alone: '],
    ['two code blocks', '```\n1\n```\n```\n2\n```', 'it has 2 code blocks'],
    ['a wrong type', '{"total": "3"}', '/total: Instance type "string" is invalid. Expected "number".'],
    ['a missing field', '{}', 'the answer: Instance does not have required property "total".'],
    ['a field too many', '{"total": 3, "extra": 1}', '/extra: '],
    ['a wrong format', '{"total": 3, "when": "yesterday"}', '/when: String does not match format "date".'],
    ['too large a value', JSON.stringify({ total: 3, extra: 'x'.repeat(70_000) }), 'the limit is 65536'],
  ])('an answer that is %s is sent back with the reason, its place and the schema', async (_, text, reason) => {
    const said = await ask({ text, outputSchema: TOTAL });
    expect(said).toMatchObject({ accept: false, by: 'schema' });
    expect(correctionOf(said)).toContain(reason);
    expect(correctionOf(said)).toContain(`The schema: ${JSON.stringify(TOTAL)}`);
  });

  it('the gate reads the transcript, the answer and its JSON, and its word is passed on', async () => {
    const asked: Omit<CompletionContext, 'signal'>[] = [];
    gates.set('a', ({ signal, ...context }) => {
      // the time limit aborts it later, whatever became of the call
      expect(signal.aborted).toBe(false);
      asked.push(context);
      return asked.length === 1 ? { accept: false, correction: 'Count again.' } : { accept: true };
    });
    const input = { text: '{"total": 3}', outputSchema: TOTAL, gate: true, workspace: '/w' };
    expect(await ask(input)).toEqual({ accept: false, by: 'gate', correction: 'Count again.' });
    expect(await ask(input)).toEqual({ accept: true, structured: { total: 3 } });
    expect(asked[0]).toEqual({
      runId: 'r',
      agent: 'a',
      turn: 4,
      output: '{"total": 3}',
      structured: { total: 3 },
      messages: MESSAGES,
      workspace: '/w',
    });
  });

  it('a gate is not asked about an answer that does not fit the schema', async () => {
    let asked = 0;
    gates.set('a', () => {
      asked += 1;
      return { accept: true };
    });
    expect(await ask({ text: 'three', outputSchema: TOTAL, gate: true })).toMatchObject({ accept: false, by: 'schema' });
    expect(asked).toBe(0);
  });

  it.each<[string, CompletionGate | undefined, string]>([
    [
      'throws',
      () => {
        throw new Error('the ledger is locked');
      },
      'the ledger is locked',
    ],
    ['rejects', () => Promise.reject(new Error('the ledger is gone')), 'the ledger is gone'],
    ['never ends', () => new Promise<never>(() => undefined), 'it took longer than 300 ms'],
    ['says something else', () => ({ accept: 'yes' }) as never, 'it returned neither { accept: true } nor'],
    ['refuses without a word', () => ({ accept: false, correction: '' }), 'it returned neither'],
    ['is not on this worker', undefined, 'the agent a has no completion gate on this worker'],
  ])('a gate that %s does not accept, and the model reads why', async (_, gate, why) => {
    options.gateTimeoutMs = 300;
    if (gate) gates.set('a', gate);
    const said = await ask({ text: 'done', gate: true });
    expect(said).toMatchObject({ accept: false, by: 'gate' });
    expect(correctionOf(said)).toContain(why);
  });

  it("a gate's signal is aborted when its time is over", async () => {
    options.gateTimeoutMs = 300;
    const aborted = latch();
    gates.set(
      'a',
      ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => (aborted.open(), reject(signal.reason)))),
    );
    expect(await ask({ text: 'done', gate: true })).toMatchObject({ accept: false });
    await aborted.opened;
  });

  it('what a gate does to its copy of the messages is seen by nobody', async () => {
    gates.set('a', ({ messages }) => {
      (messages as Message[]).length = 0;
      return { accept: true };
    });
    expect(await ask({ text: 'done', gate: true })).toEqual({ accept: true });
    const seen: number[] = [];
    gates.set('a', ({ messages }) => (seen.push(messages.length), { accept: true }));
    await ask({ text: 'done', gate: true });
    expect(seen).toEqual([MESSAGES.length]);
  });

  it('a stop of the run ends the wait for a gate', async () => {
    const entered = latch();
    options.gateTimeoutMs = 60_000;
    gates.set('a', () => {
      entered.open();
      return new Promise<never>(() => undefined);
    });
    const handle = await start({ text: 'done', gate: true });
    await entered.opened;
    await handle.cancel();
    await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
  });

  async function ask(about: Partial<AcceptAnswerInput>): Promise<AcceptAnswerResult> {
    return await (await start(about)).result();
  }

  function start(about: Partial<AcceptAnswerInput>): Promise<WorkflowHandle<(input: AcceptAnswerInput) => Promise<AcceptAnswerResult>>> {
    const digest = MESSAGES.reduce((head, message) => extendChain(head, hashMessage(message)), EMPTY_CHAIN).digest;
    const reference = { runId: 'r', executionId: randomUUID(), base: EMPTY_CHAIN, tail: MESSAGES.map((message) => ({ message })), digest };
    const input: AcceptAnswerInput = { ...reference, agent: 'a', turn: 4, text: '', gate: false, ...about };
    return client.workflow.start('askAcceptance', { taskQueue, workflowId: randomUUID(), args: [input] });
  }
});

function correctionOf(said: AcceptAnswerResult): string {
  return said.accept ? '' : said.correction;
}
