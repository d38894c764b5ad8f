import { describe, expect, inject, it } from 'vitest';
import type { ApprovalList } from '../../../src/contracts/schemas/approval.js';
import { replayHistory } from '../../support/test-worker.js';
import { until } from '../../support/use-workers.js';
import { answer, pendingQuestions, questionEvents, refusalOf } from '../../workflows/tools/support/pending-questions.js';
import { texts, useDesk } from './support/asking-desk.js';

describe('an MCP server that asks the person of a run', { timeout: 90_000 }, () => {
  const { desk } = useDesk();

  /** A run whose worker was lost while the question of its call waited, and which has another worker. */
  async function askedThenLost(tool: string) {
    const mortal = { shutdownGraceMs: 100, taskQueue: `asks-${Date.now()}` };
    const { on, make, run: begin, logged } = await desk([[tool, {}]], { worker: mortal });
    const run = await begin();
    const [question] = await pendingQuestions(run, 1);
    await on.shutdown();
    await make();
    return { run, question, logged };
  }

  it('C10: the run waits, everybody sees the question, a wrong answer is refused, and the server gets the value of the choice', async () => {
    const { run: begin, logged } = await desk([['desk_book', {}]]);
    const run = await begin({ deadlineMs: 60_000 });
    const [question] = await pendingQuestions(run, 1);
    const callId = question?.callId ?? '';
    expect(question).toMatchObject({
      question: 'Where [31m to?\nplace – Place',
      choices: ['Frankfurt', 'Ohio'],
      askedBy: 'MCP server desk',
    });
    await until(async () => (await run.progress()).status === 'waiting', 'the wait');
    expect(await run.progress()).toMatchObject({
      waitingFor: "an answer to desk's question: Where [31m to? place – Place",
      pendingQuestions: 1,
    });
    const details = JSON.stringify(await run.handle.query('__temporal_workflow_metadata'));
    expect(details).toContain('MCP server desk');
    expect(details).toContain('update answer');
    expect(await refusalOf(answer(run, { callId, answer: 'mars' }))).toBe('BAD_ANSWER: answer with one of: 1. Frankfurt, 2. Ohio');
    await pendingQuestions(run, 1);
    await answer(run, { callId, answer: '1', by: 'ada' });
    expect(await run.result()).toMatchObject({ reason: 'completed', toolCalls: 1 });
    expect(await texts(run)).toEqual(['{"given":{"action":"accept","content":{"place":"eu-1"}}}']);
    expect(await logged('call book')).toHaveLength(1);
    expect(await questionEvents(run)).toEqual(['tool.call', 'question.asked', 'question.answered', 'tool.result']);
    expect((await run.progress()).pendingQuestions).toBeUndefined();
    await replayHistory(inject('workflowBundlePath'), await run.handle.fetchHistory(), run.handle.workflowId);
  });

  it('B7: a form takes a line for each field, or JSON; each wrong value is refused with its name, and the question stays', async () => {
    const { run: begin } = await desk([['desk_reserve', {}]]);
    const run = await begin();
    const [question] = await pendingQuestions(run, 1);
    const callId = question?.callId ?? '';
    expect(question?.question.split('\n')).toEqual([
      'Who stays?',
      'Answer with a line NAME=VALUE for each field, or with a JSON object.',
      'name: text of from 2 to 10 characters – Your name',
      'mail: email, optional',
      'nights: integer from 1 to 30',
      'pets: yes or no, optional',
      'meals: some of 1. breakfast, 2. lunch, 3. dinner, with commas (up to 2), optional',
    ]);
    for (const [given, problem] of [
      ['Ada', 'a line is NAME=VALUE'],
      ['name=Ada', 'nights: integer from 1 to 30 is needed'],
      ['name=A\nnights=2', 'name: text of from 2 to 10 characters, got'],
      ['name=Ada\nnights=31', 'nights: integer from 1 to 30, got'],
      ['name=Ada\nnights=2.5', 'nights: '],
      ['name=Ada\nnights=2\nmail=nobody', 'mail: email, got'],
      ['name=Ada\nnights=2\nmeals=1,1', 'meals: '],
      ['name=Ada\nnights=2\nroom=4', 'no field'],
      ['name=Ada\nname=Bea\nnights=2', 'name: given twice'],
      ['{"name": 7, "nights": 2}', 'name: '],
      ['{"__proto__": {}, "name": "Ada", "nights": 2}', 'no field'],
      ['{"name": ', 'this is no JSON object'],
    ] as const) {
      expect(await refusalOf(answer(run, { callId, answer: given }))).toContain(`BAD_ANSWER: ${problem}`);
    }
    await answer(run, { callId, answer: 'name = Ada \nnights=2\npets=no\nmeals=3, breakfast' });
    await run.result();
    const [text = ''] = await texts(run);
    expect(JSON.parse(text)).toEqual({
      given: { action: 'accept', content: { name: 'Ada', nights: 2, pets: false, meals: ['dinner', 'breakfast'] } },
    });
  });

  it('one value is answered as it is, and a form without fields is confirmed', async () => {
    const { run: begin } = await desk([
      ['desk_rate', {}],
      ['desk_confirm', {}],
    ]);
    const run = await begin();
    const [stars] = await pendingQuestions(run, 1);
    expect(stars?.question).toBe('How many stars?\nstars: integer from 1 to 5');
    expect(await refusalOf(answer(run, { callId: stars?.callId, answer: 'many' }))).toContain(
      'BAD_ANSWER: stars: integer from 1 to 5, got',
    );
    await answer(run, { callId: stars?.callId, answer: ' 4 ' });
    await until(async () => (await run.handle.query<ApprovalList>('approvals')).questions?.[0]?.question === 'Really?', 'the second');
    const [really] = await pendingQuestions(run, 1);
    expect(really?.choices).toEqual(['accept']);
    await answer(run, { callId: really?.callId, answer: 'accept' });
    await run.result();
    expect(await texts(run)).toEqual(['{"given":{"action":"accept","content":{"stars":4}}}', '{"given":{"action":"accept","content":{}}}']);
  });

  it('declined, expired and interrupted questions are told to the server, and its call goes on', async () => {
    const { run: begin } = await desk([['desk_book', {}]], { agent: { askExpireMs: 1_000 } });
    const expired = await begin();
    await expired.result();
    expect(await texts(expired)).toEqual(['{"given":{"action":"cancel"}}']);
    expect(await expired.events()).toContainEqual(expect.objectContaining({ type: 'question.answered', outcome: 'expired' }));

    const { run: again } = await desk([['desk_book', {}]]);
    const declined = await again();
    const [question] = await pendingQuestions(declined, 1);
    await declined.handle.executeUpdate('deny', { args: [{ callId: question?.callId, by: 'ada', reason: 'no' }] });
    await declined.result();
    expect(await texts(declined)).toEqual(['{"given":{"action":"decline"}}']);

    const interrupted = await again();
    await pendingQuestions(interrupted, 1);
    await interrupted.handle.signal('steer', { text: 'forget it', mode: 'preempt' });
    await interrupted.result();
    expect(await texts(interrupted)).toEqual(['{"given":{"action":"cancel"}}']);
  });

  it('a cancel of the run ends the question, and the call, which was sent, has an unknown outcome', async () => {
    const { run: begin, logged } = await desk([['desk_book', {}]]);
    const run = await begin();
    await pendingQuestions(run, 1);
    await run.handle.signal('cancel', { reason: 'enough' });
    expect(await run.result()).toMatchObject({ reason: 'cancelled' });
    expect((await run.handle.query<ApprovalList>('approvals')).questions ?? []).toEqual([]);
    expect(await run.events()).toContainEqual(expect.objectContaining({ type: 'question.answered', outcome: 'cancelled' }));
    await until(async () => (await logged('end book')).length === 1, 'the end of the call in the server');
  });

  it('the time limit of the call, and the deadline of the run, stand still while it waits', async () => {
    const { run: begin } = await desk([['desk_book', {}]], { server: { timeoutMs: 4_000 } });
    const run = await begin({ deadlineMs: 6_000 });
    const [question] = await pendingQuestions(run, 1);
    const since = Date.parse(question?.since ?? '');
    await until(() => Date.now() > since + 7_000, 'the end of both limits');
    await answer(run, { callId: question?.callId, answer: 'Ohio' });
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(await texts(run)).toEqual(['{"given":{"action":"accept","content":{"place":"us-1"}}}']);
  });

  it('two runs, and two calls of one run, have connections of their own: no answer goes to another question', async () => {
    const { run: begin, logged } = await desk([
      ['desk_look', { n: 1 }],
      ['desk_look', { n: 2 }],
    ]);
    const [one, two] = [await begin(), await begin()];
    const [first, second] = [await pendingQuestions(one, 2), await pendingQuestions(two, 2)];
    expect(new Set((await logged('call look')).map((line) => line.split(' ').at(-1))).size).toBeGreaterThan(0);
    for (const { callId } of second) await answer(two, { callId, answer: 'Ohio' });
    await two.result();
    expect(await texts(two)).toEqual([1, 2].map((n) => `{"n":${n},"given":{"action":"accept","content":{"place":"us-1"}}}`));
    const calls = first.map(({ callId, call: ofCall }) => ({ callId, ofCall }));
    await answer(one, { callId: calls[0]?.callId, answer: 'Frankfurt' });
    await answer(one, { callId: calls[1]?.callId, answer: 'Ohio' });
    await one.result();
    const messages = await one.messages();
    const placeOf = (id: string | undefined) => JSON.stringify(messages.find((message) => message.id === id));
    expect(placeOf(calls[0]?.ofCall)).toContain('eu-1');
    expect(placeOf(calls[1]?.ofCall)).toContain('us-1');
  });

  it('survives its worker: a call that may be repeated asks nothing anew, and takes the answer given meanwhile', async () => {
    const { run, question, logged } = await askedThenLost('desk_look');
    await answer(run, { callId: question?.callId, answer: 'Ohio' });
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(await texts(run)).toEqual(['{"given":{"action":"accept","content":{"place":"us-1"}}}']);
    expect((await run.events()).filter(({ type }) => type === 'question.asked')).toHaveLength(1);
    expect(await logged('call look')).toHaveLength(2);
  });

  it('a call that must not be repeated does not run twice when its worker is lost: its outcome is unknown, and its question ends', async () => {
    const { run, logged } = await askedThenLost('desk_book');
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect((await texts(run))[0]).toContain('unknown');
    expect(await logged('call book')).toHaveLength(1);
    expect(await run.events()).toContainEqual(expect.objectContaining({ type: 'question.answered', outcome: 'cancelled' }));
  });

  it('survives its server: the question stays, and the call that is made again takes its answer', async () => {
    const { run: begin, logged } = await desk([['desk_fragile', {}]]);
    const run = await begin();
    const [question] = await pendingQuestions(run, 1);
    await until(async () => (await logged('call fragile')).length === 2, 'the call to the next server');
    await answer(run, { callId: question?.callId, answer: 'Ohio' });
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(await texts(run)).toEqual(['{"given":{"action":"accept","content":{"place":"us-1"}}}']);
    expect((await run.events()).filter(({ type }) => type === 'question.asked')).toHaveLength(1);
  });

  it('a server that gives up withdraws its question', async () => {
    const { run: begin } = await desk([['desk_brief', {}]]);
    const run = await begin();
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(await texts(run)).toEqual(['{"given":"gave up"}']);
    const ends = (await run.events()).filter(({ type }) => type === 'question.answered');
    expect(ends).toMatchObject([{ outcome: 'cancelled' }]);
  });
});
