import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { Authenticate } from '../../../src/activities/prepare/authenticate.js';
import type { RunPolicy } from '../../../src/contracts/schemas/policy.js';
import { resultTexts } from '../../activities/support/result-texts.js';
import { call, say } from '../../support/agent-worker.js';
import { pendingApprovals } from '../../support/pending-approvals.js';
import { recorder } from '../../support/tools/recorder.js';
import { latch, useWorkers } from '../../support/use-workers.js';
import { answer, pendingQuestions, refusalOf } from '../tools/support/pending-questions.js';

const ASK = { gate: { rules: [{ tool: 'deploy', decision: 'ask' }] } } satisfies z.input<typeof RunPolicy>;
const ofOwner: Authenticate = ({ auth }) => Promise.resolve(auth === 'signed' ? undefined : 'UNSIGNED: it has no signature');

describe('A3: decisions about a run at an embedded server', () => {
  const { worker, start } = useWorkers();

  async function asking(authenticate: Authenticate) {
    const { tools, log } = recorder('deploy');
    const on = await worker({ model: (_, n) => (n === 1 ? call(['deploy', { n }]) : say('ok')), tools, policy: ASK, authenticate });
    const run = await start(on);
    const [{ callId } = { callId: '' }] = await pendingApprovals(run, 1);
    const send = (name: string, input: object): Promise<unknown> => run.handle.executeUpdate(name, { args: [input] });
    return { run, log, callId, send };
  }

  it('an approval and an extension count with a signature only; a denial, which starts nothing, needs none', async () => {
    const { run, log, callId, send } = await asking(ofOwner);
    const unsigned = { cause: { type: 'Input.Invalid', message: 'UNSIGNED: it has no signature' } };
    await expect(send('approve', { callId })).rejects.toMatchObject(unsigned);
    await expect(send('approve', { callId, auth: 'forged' })).rejects.toMatchObject(unsigned);
    await expect(send('extend', { turns: 3 })).rejects.toMatchObject(unsigned);
    expect((await run.progress()).maxTurns).toBe(20);
    expect(await send('extend', { turns: 3, auth: 'signed' })).toMatchObject({ maxTurns: 23 });
    await expect(send('approve', { callId: 'other', auth: 'signed' })).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/^NO_SUCH_APPROVAL/u) },
    });
    expect(log).toEqual([]);
    await send('deny', { callId, by: 'ann' });
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(log).toEqual([]);
  });

  it('input that is invalid is refused without a check, and of two decisions that are checked at once the first counts', async () => {
    const checked = latch();
    const seen: string[] = [];
    const { run, log, callId, send } = await asking(async (input, at) => {
      seen.push(input.verb);
      if (seen.length === 2) checked.open();
      await checked.opened;
      return ofOwner(input, at);
    });
    await expect(send('approve', { callId: 7, auth: 'signed' })).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/^BAD_ANSWER/u) },
    });
    await expect(send('extend', { auth: 'signed' })).rejects.toMatchObject({ cause: { message: expect.stringMatching(/^BAD_OPTION/u) } });
    expect(seen).toEqual([]);
    const decisions = await Promise.allSettled(['ann', 'bob'].map((by) => send('approve', { callId, by, auth: 'signed' })));
    expect(decisions.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(log).toEqual(['deploy 1']);
  });

  it('an answer counts with a signature only: a command of the agent could reach the server and answer its own question', async () => {
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['ask_user', { question: 'Which region?' }]) : say('ok')),
      config: {
        model: 'fake/model',
        providers: { fake: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:9' } },
        agents: { asker: { description: 'Asks.', prompt: 'ask', tools: ['ask_user'] } },
      },
      authenticate: ofOwner,
    });
    const run = await start(on, { agent: 'asker' });
    const [question] = await pendingQuestions(run, 1);
    const input = { callId: question?.callId, answer: 'eu' };
    expect(await refusalOf(answer(run, input))).toBe('UNSIGNED: it has no signature');
    expect(await refusalOf(answer(run, { ...input, auth: 'forged' }))).toBe('UNSIGNED: it has no signature');
    await pendingQuestions(run, 1);
    await answer(run, { ...input, auth: 'signed' });
    await run.result();
    expect(resultTexts(on.requests[1]?.messages)).toEqual(['eu']);
  });
});
