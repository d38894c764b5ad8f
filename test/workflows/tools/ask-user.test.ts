import { describe, expect, inject, it } from 'vitest';
import type { RunEvent } from '../../../src/contracts/event.js';
import type { ApprovalList } from '../../../src/contracts/schemas/approval.js';
import type { AgentDefinition } from '../../../src/define/define-agent.js';
import type { Config } from '../../../src/define/define-config.js';
import { resultTexts } from '../../activities/support/result-texts.js';
import { type AgentWorkerOptions, call, say } from '../../support/agent-worker.js';
import { replayHistory } from '../../support/test-worker.js';
import { recorder } from '../../support/tools/recorder.js';
import { type TestRun, testRun, until, useWorkers } from '../../support/use-workers.js';
import { answer, pendingQuestions, questionEvents, refusalOf } from './support/pending-questions.js';

function configOf(agent: Partial<AgentDefinition> = {}, more: Partial<Config> = {}): Config {
  return {
    model: 'fake/model',
    providers: { fake: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:9' } },
    ...more,
    agents: { ...more.agents, asker: { description: 'Asks.', prompt: 'ask', tools: ['ask_user', 'deploy', 'look'], ...agent } },
  };
}

const REGION = { question: 'Which region?', choices: ['eu', 'us', '1'] };

describe('tool ask_user', () => {
  const { worker, start } = useWorkers();

  /** A run whose first answer makes these calls. */
  async function asking(
    calls: readonly (readonly [string, unknown])[],
    agent: Partial<AgentDefinition> = {},
    more: Partial<AgentWorkerOptions> = {},
  ) {
    const { tools, log } = recorder('deploy');
    const on = await worker({
      model: (_, n) => (n === 1 ? call(...calls) : say('ok')),
      config: configOf(agent, { tools: [...tools] }),
      ...more,
    });
    return { on, log, run: async (input: object = {}) => await start(on, { agent: 'asker', ...input }) };
  }

  it('C10: the run waits, everybody sees the question, and the model reads the answer of the first who gives one', async () => {
    const { on, run: begin } = await asking([['ask_user', { question: 'Which\u001b[31m name?' }]]);
    const run = await begin();
    const [question] = await pendingQuestions(run, 1);
    const callId = question?.callId ?? '';
    expect(question).toMatchObject({ question: 'Which\u001b[31m name?', askedBy: 'agent', turn: 1 });
    await until(async () => (await run.progress()).status === 'waiting', 'the wait');
    expect(await run.progress()).toMatchObject({ waitingFor: 'an answer to: Which [31m name?', pendingQuestions: 1, pendingApprovals: 0 });
    const details = await run.handle.query<string>('__temporal_workflow_metadata').then((text) => JSON.stringify(text));
    expect(details).toContain('Question');
    expect(details).toContain('update answer');
    expect(JSON.stringify((await run.handle.describe()).typedSearchAttributes)).toContain('AgentPendingApprovals');
    expect(await answer(run, { callId, answer: '  Ada ', by: 'ann' })).toMatchObject({ outcome: 'answered', answer: 'Ada', by: 'ann' });
    expect(await run.result()).toMatchObject({ reason: 'completed', toolCalls: 1 });
    expect(resultTexts(on.requests[1]?.messages)).toEqual(['Ada']);
    expect(await questionEvents(run)).toEqual(['tool.call', 'question.asked', 'question.answered', 'tool.result']);
    await replays(run);
  });

  it('B7: a choice, or its number, is an answer; anything else is refused with a code, and the question stays', async () => {
    const { on, run: begin } = await asking([
      ['ask_user', REGION],
      ['ask_user', { ...REGION, other: true }],
      ['ask_user', REGION],
    ]);
    const run = await begin();
    const [one, two, three] = await pendingQuestions(run, 3);
    const send = (input: object): Promise<string> => refusalOf(answer(run, input));
    expect(await send({ callId: one?.callId, answer: 'mars' })).toBe('BAD_ANSWER: answer with one of: 1. eu, 2. us, 3. 1');
    expect(await send({ callId: one?.callId, answer: '4' })).toMatch(/^BAD_ANSWER: /u);
    for (const input of [{}, { callId: one?.callId }, { callId: one?.callId, answer: '' }, { callId: one?.callId, answer: 7 }]) {
      expect(await send(input)).toMatch(/^BAD_ANSWER: /u);
    }
    expect(await send({ callId: one?.callId, answer: 'x'.repeat(10_001) })).toMatch(/^BAD_ANSWER: /u);
    expect(await send({ callId: 'nothing', answer: 'eu' })).toMatch(/^NO_SUCH_QUESTION: /u);
    await pendingQuestions(run, 3);
    const first = await answer(run, { callId: one?.callId, answer: '2', by: 'ann' });
    expect(first.answer).toBe('us');
    expect(await send({ callId: one?.callId, answer: 'eu' })).toBe(`already answered: answered by ann at ${first.at}`);
    await answer(run, { callId: two?.callId, answer: 'mars' });
    // a text that is a choice is no number
    await answer(run, { callId: three?.callId, answer: '1' });
    await run.result();
    expect(resultTexts(on.requests[1]?.messages)).toEqual(['us', 'mars', '1']);
  });

  it('several questions and an approval wait side by side, while the other calls run', async () => {
    const {
      on,
      log,
      run: begin,
    } = await asking(
      [
        ['ask_user', { question: 'one?' }],
        ['look', { n: 1 }],
        ['deploy', { n: 2 }],
        ['ask_user', { question: 'two?' }],
      ],
      { gate: { rules: [{ tool: 'deploy', decision: 'ask' }] } },
    );
    const run = await begin();
    const [one, two] = await pendingQuestions(run, 2);
    await until(() => log.length === 1, 'the other call');
    await until(async () => (await run.progress()).waitingFor === 'approval of deploy and 2 more', 'the wait');
    await answer(run, { callId: two?.callId, answer: 'second' });
    const [approval] = (await run.handle.query<ApprovalList>('approvals')).pending;
    await run.handle.executeUpdate('approve', { args: [{ callId: approval?.callId }] });
    await until(() => log.length === 2, 'the approved call');
    await answer(run, { callId: one?.callId, answer: 'first' });
    await run.result();
    expect(resultTexts(on.requests[1]?.messages)).toEqual(['first', 'look 1', 'deploy 2', 'second']);
    await replays(run);
  });

  it('deny declines a question, with a reason that the model reads', async () => {
    const { on, run: begin } = await asking([['ask_user', REGION]]);
    const run = await begin();
    const [question] = await pendingQuestions(run, 1);
    const denied = await run.handle.executeUpdate('deny', { args: [{ callId: question?.callId, by: 'ann', reason: 'decide yourself' }] });
    expect(denied).toMatchObject({ decision: 'denied', by: 'ann', tool: 'ask_user' });
    await run.result();
    expect(resultTexts(on.requests[1]?.messages)).toEqual(['declined by ann: decide yourself']);
  });

  it('a question of a megabyte, with control sequences and 1,000 choices, is one clear failed result; nobody is asked', async () => {
    const choices = Array.from({ length: 1_000 }, (_, n) => `choice ${n}`);
    const { on, run: begin } = await asking([
      ['ask_user', { question: '\u001b]0;x\u0007'.repeat(60_000), choices }],
      ['ask_user', { question: 'ok?', choices }],
      ['ask_user', { question: 'ok?', choices: ['a', 'a'] }],
      ['ask_user', { question: 'ok?', choises: ['a'] }],
      ['ask_user', { question: ' \u0000' }],
      ...Array.from({ length: 12 }, (_, n) => ['ask_user', { question: `${n}?` }] as const),
    ]);
    const run = await begin();
    const asked = await pendingQuestions(run, 10);
    expect(asked.map(({ question }) => question)).toEqual(['␀', ...Array.from({ length: 9 }, (_, n) => `${n}?`)]);
    for (const { callId } of asked) await answer(run, { callId, answer: 'yes' });
    await run.result();
    const texts = resultTexts(on.requests[1]?.messages);
    expect(texts.slice(0, 4)).toEqual([
      'question: 360000 characters, at most 4000',
      'choices: 1000, at most 20',
      'choices: two of them are the same',
      'choises: unknown (did you mean choices?)',
    ]);
    expect(texts.slice(-3)).toEqual(Array.from({ length: 3 }, () => 'not asked: 10 questions are waiting already'));
  });

  it('X16: a question that nobody answers in time expires, and an answer after that is told so', async () => {
    const { on, run: begin } = await asking([['ask_user', REGION]], { askExpireMs: 1_000 });
    const run = await begin();
    await run.result();
    const question = (await run.events()).find((event) => event.type === 'question.asked');
    expect(resultTexts(on.requests[1]?.messages)).toEqual(['not answered: the question expired after 1s']);
    expect((await run.handle.query<ApprovalList>('approvals')).answered).toMatchObject([{ callId: question?.callId, outcome: 'expired' }]);
    expect(kinds(await run.events(), 'question.answered')).toMatchObject([{ outcome: 'expired', by: 'nobody' }]);
    await replays(run);
  });

  it.each([
    ['cancel', 'cancel', {}, '[cancelled] not answered: cancelled', 'cancelled'],
    [
      'a message that skips calls',
      'steer',
      { text: 'take eu', mode: 'preempt' },
      '[cancelled] not answered: a new message came',
      'completed',
    ],
    [
      'a message that interrupts',
      'steer',
      { text: 'take eu', mode: 'interrupt' },
      '[cancelled] not answered: a new message came',
      'completed',
    ],
  ] as const)('%s ends the wait at once', async (_, signal, input, text, reason) => {
    const { run: begin } = await asking([['ask_user', REGION]]);
    const run = await begin();
    const [question] = await pendingQuestions(run, 1);
    await run.handle.signal(signal, input);
    expect(await run.result()).toMatchObject({ reason, toolCalls: 1 });
    const result = (await run.messages()).find(({ role }) => role === 'tool');
    expect(result?.parts[0]).toMatchObject({ isError: true, parts: [{ text }] });
    expect((await run.handle.query<ApprovalList>('approvals')).answered).toMatchObject([
      { callId: question?.callId, outcome: 'cancelled' },
    ]);
    expect(kinds(await run.events(), 'tool.result')).toMatchObject([{ outcome: 'cancelled' }]);
    await replays(run);
  });

  it('the deadline stands still while a person is waited for, and a pause holds the run back after the answer', async () => {
    const { on, run: begin } = await asking([['ask_user', REGION]]);
    const run = await begin({ deadlineMs: 5_000 });
    const [question] = await pendingQuestions(run, 1);
    const waitedUntil = Date.now() + 5_500;
    await until(() => Date.now() > waitedUntil, 'more time than the deadline allows');
    await run.handle.signal('pause');
    await answer(run, { callId: question?.callId, answer: 'eu' });
    await until(async () => (await run.progress()).status === 'paused', 'the pause');
    expect(on.requests).toHaveLength(1);
    await run.handle.signal('resume');
    expect(await run.result()).toMatchObject({ reason: 'completed' });
  });

  it('a question waits through continue-as-new and through the end of its worker, and is asked once', async () => {
    const first = await asking([
      ['ask_user', REGION],
      ['ask_user', { question: 'two?' }],
    ]);
    const run = await first.run({ bounds: { continueAsNewEvents: 20 } });
    const [one, two] = await pendingQuestions(run, 2);
    const { runId } = await run.handle.describe();
    await until(async () => {
      await run.handle.signal('resume');
      return (await run.handle.describe()).runId !== runId;
    }, 'the next history');
    expect(await pendingQuestions(run, 2)).toEqual([one, two]);
    await answer(run, { callId: two?.callId, answer: 'second' });
    await first.on.shutdown();
    const second = await asking([], {}, { taskQueue: first.on.taskQueue, model: () => say('ok') });
    await answer(run, { callId: one?.callId, answer: 'eu' });
    expect(await run.result()).toMatchObject({ reason: 'completed', toolCalls: 2 });
    expect(resultTexts(second.on.requests[0]?.messages)).toEqual(['eu', 'second']);
    const events = await run.events();
    expect(kinds(events, 'question.asked')).toHaveLength(2);
    expect(kinds(events, 'tool.call')).toHaveLength(2);
    await replays(run);
  });

  it('a call that also needs an approval asks once it is approved', async () => {
    const { on, run: begin } = await asking([['ask_user', REGION]], { gate: { rules: [{ tool: 'ask_user', decision: 'ask' }] } });
    const run = await begin();
    await until(async () => (await run.handle.query<ApprovalList>('approvals')).pending.length === 1, 'the approval');
    const { pending, questions } = await run.handle.query<ApprovalList>('approvals');
    expect(questions ?? []).toEqual([]);
    const callId = pending[0]?.callId ?? '';
    expect(await refusalOf(answer(run, { callId, answer: 'eu' }))).toMatch(/^NO_SUCH_QUESTION/u);
    await run.handle.executeUpdate('approve', { args: [{ callId }] });
    await pendingQuestions(run, 1);
    await answer(run, { callId, answer: 'eu' });
    await run.result();
    expect(resultTexts(on.requests[1]?.messages)).toEqual(['eu']);
  });

  it("a sub-agent's question is answered at its own run, which the progress of its parent names", async () => {
    const on = await worker({
      model: ({ prompt, messages }) => {
        if (messages.length > 2) return say(resultTexts(messages).join());
        return prompt.startsWith('lead') ? call(['delegate', { agent: 'asker', task: 'ask' }]) : call(['ask_user', REGION]);
      },
      config: configOf({}, { agents: { lead: { description: 'Leads.', prompt: 'lead', subagents: ['asker'] } } }),
    });
    const run = await start(on, { agent: 'lead' });
    const child = `${run.runId}/asker-1`;
    await until(async () => (await run.progress()).waitingFor === `sub-agent ${child}`, 'the sub-agent');
    const sub = testRun(on.client.workflow.getHandle(child));
    const [question] = await pendingQuestions(sub, 1);
    expect(await refusalOf(answer(run, { callId: question?.callId, answer: 'eu' }))).toMatch(/^NO_SUCH_QUESTION/u);
    await answer(sub, { callId: question?.callId, answer: 'eu' });
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'eu' });
  });

  it('an agent that does not list it is not offered it; nor is a run of workflow code that cannot wait', async () => {
    const without: readonly [Partial<AgentDefinition>, Partial<AgentWorkerOptions>][] = [
      [{ tools: [] }, {}],
      [{}, { activitiesLevel: 1 }],
    ];
    for (const [agent, more] of without) {
      const { on, run: begin } = await asking([['ask_user', REGION]], agent, more);
      const run = await begin();
      await run.result();
      expect(resultTexts(on.requests[1]?.messages)[0]).toMatch(/^no tool named "ask_user"/u);
    }
  });
});

function kinds(events: readonly RunEvent[], type: RunEvent['type']): readonly RunEvent[] {
  return events.filter((event) => event.type === type);
}

async function replays(run: TestRun): Promise<void> {
  await replayHistory(inject('workflowBundlePath'), await run.handle.fetchHistory(), run.runId);
}
