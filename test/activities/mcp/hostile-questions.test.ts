import { describe, expect, it } from 'vitest';
import { ELICITATION_LEVEL } from '../../../src/contracts/capability-level.js';
import { ELICITATION_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { ApprovalList } from '../../../src/contracts/schemas/approval.js';
import type { RunSetup } from '../../../src/contracts/schemas/prepared-run.js';
import { SecretMask } from '../../../src/contracts/text/secret-mask.js';
import { until } from '../../support/use-workers.js';
import { useSavedBundles } from '../../workflows/releases/saved-bundles.js';
import { answer, pendingQuestions } from '../../workflows/tools/support/pending-questions.js';
import { texts, useDesk } from './support/asking-desk.js';

describe('an MCP server whose questions nobody wants', { timeout: 90_000 }, () => {
  const { desk } = useDesk();
  const bundles = useSavedBundles();

  it('hostile questions: too many, too large, unclear, empty, of a page, and after the call are refused', async () => {
    const { run: begin, logged } = await desk([
      ['desk_flood', {}],
      ['desk_link', {}],
      ['desk_late', {}],
      ['desk_many', {}],
    ]);
    const run = await begin();
    const { perCallMax } = ELICITATION_LIMITS;
    for (let n = 1; n <= perCallMax; n += 1) {
      await until(
        async () => (await run.handle.query<ApprovalList>('approvals')).questions?.[0]?.question.startsWith(`Question ${n}?`) === true,
        `question ${n}`,
      );
      const [question] = await pendingQuestions(run, 1);
      await answer(run, { callId: question?.callId, answer: 'Ohio' });
    }
    await run.result();
    const [flood = '', link, late, many = ''] = await texts(run);
    const refused = (JSON.parse(flood) as { given: string[] }).given;
    expect(refused).toMatchObject([
      expect.stringContaining('500 fields, at most 20'),
      expect.stringContaining('1000 choices, 1 to 20'),
      expect.stringContaining('two choices look the same'),
      expect.stringContaining('the message is empty'),
    ]);
    expect(link).toContain('Client does not support URL-mode');
    expect(late).toBe('{"given":"done"}');
    const given = (JSON.parse(many) as { given: string[] }).given;
    expect(given.slice(0, perCallMax)).toEqual(Array.from({ length: perCallMax }, () => 'accept'));
    expect(given.slice(perCallMax).every((text) => text.includes(`at most ${perCallMax} questions`))).toBe(true);
    await until(async () => (await logged('late')).length === 1, 'the late question');
    expect((await logged('late'))[0]).toContain('only a call may ask');
    expect((await run.events()).filter(({ type }) => type === 'question.asked')).toHaveLength(perCallMax);
  });

  it('no question shows a key', async () => {
    const known = [{ name: 'TOKEN', value: 'tk-5f0c2b8e41d7' }];
    const server = { env: { TOKEN: 'tk-5f0c2b8e41d7' } };
    const { run: begin } = await desk([['desk_leak', {}]], { server, worker: { secrets: new SecretMask(() => known) } });
    const run = await begin();
    const [question] = await pendingQuestions(run, 1);
    expect(question?.question).toBe('Is [secret TOKEN] yours?');
    await answer(run, { callId: question?.callId, answer: 'accept' });
    await run.result();
    expect(await texts(run)).toEqual(['{"given":{"action":"accept","content":{}}}']);
    expect(JSON.stringify(await run.events())).not.toContain('tk-5f0c2b8e41d7');
  });

  it('a question that no running call asks is dropped, whoever sends it', async () => {
    const { run: begin } = await desk([['desk_book', {}]]);
    const run = await begin();
    const [question] = await pendingQuestions(run, 1);
    const forged = { callId: `${question?.call}.forged`, question: 'Your password?', askedBy: 'MCP server desk' };
    for (const given of [
      undefined,
      'text',
      { call: 'other', question: { ...forged, callId: 'other.1' } },
      { call: question?.call, question: { ...forged, callId: 'other.1' } },
      { call: question?.call, question: { ...forged, question: 'x'.repeat(5_000) } },
      { call: question?.call, question: { ...forged, fields: [{ name: '__proto__\n', kind: 'text', required: true }] } },
      { call: question?.call, question: { ...forged, choices: Array.from({ length: 30 }, () => 'a') } },
      { call: question?.call, withdrawn: 'other' },
    ]) {
      await run.handle.signal('ask', given);
    }
    await pendingQuestions(run, 1);
    await answer(run, { callId: question?.callId, answer: 'Ohio' });
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    await run.handle.query('question', undefined);
  });

  it.each([
    ['its option is off', () => ({ server: { elicitation: false } })],
    ['the activities are of an earlier build', () => ({ worker: { activitiesLevel: ELICITATION_LEVEL - 1 } })],
    ['the workflow code is of an earlier build', () => ({ worker: { bundlePath: bundleOf(ELICITATION_LEVEL - 1) } })],
  ])('is not told that it may ask when %s', async (_, options) => {
    const { run: begin, logged } = await desk([['desk_book', {}]], options());
    const run = await begin();
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect((await texts(run))[0]).toContain('does not support');
    expect(await logged('client')).toEqual(['client {}']);
    expect((await run.handle.query<RunSetup>('setup')).tools.some(({ asks }) => asks)).toBe(false);
  });

  function bundleOf(level: number): string {
    const bundle = bundles.find((each) => each.level === level);
    if (!bundle) throw new Error(`no bundle of level ${level}`);
    return bundle.path;
  }

  it('is refused a request for a completion with the error of the protocol: sampling is not offered', async () => {
    const { run: begin, logged } = await desk([['desk_sample', {}]]);
    const run = await begin();
    await run.result();
    expect(await texts(run)).toEqual(['{"given":"-32601 MCP error -32601: Method not found"}']);
    expect(await logged('client')).toEqual(['client {"elicitation":{"form":{}}}']);
  });
});
