import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import { updatePlan } from '../../../src/tools/update-plan.js';
import { resultTexts } from '../../activities/support/result-texts.js';
import { call, say } from '../../support/agent-worker.js';
import { latch, until, untilAborted } from '../../support/use-workers.js';
import { inHalves, lookUp, refund, words } from '../http/support/chat-agent.js';
import { ASKING, useEditors } from './support/use-editors.js';

const editors = useEditors();
const HERE = '/srv/project';

describe('the prompts of an editor', () => {
  it('C-38: an answer comes while the model writes it, with its thinking, calls, results and plan, and the turn ends', async () => {
    const half = latch();
    const thought = latch();
    const plan = {
      steps: [
        { step: 'look', status: 'done' },
        { step: 'tell', status: 'in_progress' },
      ],
    };
    const place = await editors.place({
      tools: [lookUp, updatePlan],
      model: async (request, nth) => {
        if (nth > 1) return await inHalves(half.opened)(request);
        request.onDelta?.({ type: 'thinking', text: 'which order?' });
        // thinking is only in the stream, which may be later than the events
        await thought.opened;
        return words(request, 'I look it up.', call(['look_up', { order: 7 }], ['update_plan', plan]));
      },
    });
    const { editor } = await place.editor();
    const session = await editor.open(HERE);
    const answered = editor.prompt(session, 'where is my order?');
    await editor.sees('agent_thought: which order?');
    thought.open();
    await editor.sees('agent_message: first ');
    half.open();
    expect(await answered).toBe('end_turn');
    expect(editor.messages).toEqual(['agent_thought: which order?', 'agent_message: I look it up.', 'agent_message: first and last']);
    expect(editor.call('look_up')).toMatchObject({
      title: 'look up',
      kind: 'other',
      status: 'completed',
      rawInput: { order: 7 },
      content: [{ type: 'content', content: { type: 'text', text: 'order 7 is sent' } }],
    });
    expect(editor.updates).toContainEqual({
      sessionUpdate: 'plan',
      entries: [
        { content: 'look', priority: 'medium', status: 'completed' },
        { content: 'tell', priority: 'medium', status: 'in_progress' },
      ],
    });
    expect(() => editor.call('update_plan')).toThrow('no call');
  });

  it('a call that needs approval asks the user: what is allowed runs, what is rejected does not', async () => {
    const place = await editors.place({
      tools: [refund],
      model: (request, nth) =>
        nth === 1 ? words(request, 'I refund.', call(['refund', { order: 1 }], ['refund', { order: 2 }])) : words(request, 'Done.'),
    });
    const { editor } = await place.editor({
      choose: ({ toolCall, options }) =>
        options.find(({ kind }) => kind === (JSON.stringify(toolCall.rawInput).includes('1') ? 'allow_once' : 'reject_once'))?.optionId,
    });
    const session = await editor.open(HERE);
    expect(await editor.prompt(session, 'refund both')).toBe('end_turn');
    expect(editor.asked.map(({ options }) => options.map(({ kind }) => kind))).toEqual([
      ['allow_once', 'reject_once'],
      ['allow_once', 'reject_once'],
    ]);
    const ended = editor.updates.flatMap((update) =>
      update.sessionUpdate === 'tool_call_update' && update.rawOutput !== undefined ? [[update.status, update.rawOutput]] : [],
    );
    expect(ended).toContainEqual(['completed', 'refunded 1']);
    expect(ended.filter(([status]) => status === 'failed')).toHaveLength(1);
    const [run] = (await place.client.session(session).query()).runs;
    const { decided } = await place.client.get(run?.runId ?? '').approvals();
    const decisions = decided.map(({ decision, by }) => `${decision} by ${by}`);
    expect(decisions.toSorted((a, b) => a.localeCompare(b))).toEqual(['approved by acp:tester', 'denied by acp:tester']);
  });

  it('a decision of another person withdraws the question from the editor', async () => {
    const place = await editors.place({
      tools: [refund],
      model: (request, nth) => (nth === 1 ? call(['refund', { order: 1 }]) : words(request, 'Done.')),
    });
    const { editor } = await place.editor({ choose: () => undefined });
    const session = await editor.open(HERE);
    const answered = editor.prompt(session, 'refund it');
    await until(() => editor.asked.length === 1, 'the question');
    const { active = '' } = await place.client.session(session).query();
    await place.client.get(active).approve(editor.asked[0]?.toolCall.toolCallId ?? '', { by: 'ada' });
    expect(await answered).toBe('end_turn');
    await until(() => editor.withdrawn === 1, 'the withdrawal');
  });

  it('C1: a cancel ends the model call, and the turn with `cancelled`; the session takes the next prompt', async () => {
    let aborted = 0;
    const place = await editors.place({
      model: async (request, nth) => {
        if (nth > 1) return words(request, 'hello again');
        request.onDelta?.({ type: 'text', text: 'once ' });
        request.signal.addEventListener('abort', () => (aborted += 1));
        return await untilAborted(request.signal);
      },
    });
    const { editor } = await place.editor();
    const session = await editor.open(HERE);
    const answered = editor.prompt(session, 'a long story');
    await editor.sees('agent_message: once ');
    await editor.cancel(session);
    expect([await answered, aborted]).toEqual(['cancelled', 1]);
    const state = await place.client.session(session).query();
    expect(state.runs.map(({ reason }) => reason)).toEqual(['cancelled']);
    expect(await editor.prompt(session, 'and now?')).toBe('end_turn');
    expect(editor.messages.at(-1)).toBe('agent_message: hello again');
  });

  it('a cancel while a call waits for approval withdraws the question and ends the turn', async () => {
    const place = await editors.place({ tools: [refund], model: () => call(['refund', { order: 1 }]) });
    const { editor } = await place.editor({ choose: () => undefined });
    const session = await editor.open(HERE);
    const cancel = new AbortController();
    const answered = editor.prompt(session, 'refund it', cancel.signal);
    await until(() => editor.asked.length === 1, 'the question');
    cancel.abort();
    expect(await answered).toBe('cancelled');
    await until(() => editor.withdrawn === 1, 'the withdrawal');
  });

  it('a run at its limit of turns ends the turn with `max_turn_requests`, after its final answer', async () => {
    const endless = defineTool({ name: 'again', description: 'a', parameters: z.object({}), effect: 'read', execute: () => 'more' });
    const place = await editors.place({
      tools: [endless],
      model: (request, nth) => {
        if (request.toolChoice === 'none') return say('I stop here.');
        return nth < 30 ? call(['again', { nth }]) : words(request, 'x');
      },
    });
    const { editor } = await place.editor();
    const session = await editor.open(HERE);
    expect(await editor.prompt(session, 'go on for ever')).toBe('max_turn_requests');
    expect(editor.messages.at(-1)).toBe('agent_message: I stop here.');
  });

  it('a question of the agent: buttons for choices, else the turn ends and the next prompt is the answer', async () => {
    const place = await editors.place(
      {
        config: ASKING,
        model: (request, nth) => {
          if (nth === 1) return call(['ask_user', { question: 'Which one?', choices: ['red', 'blue'] }]);
          return nth === 2 ? call(['ask_user', { question: 'Why?' }]) : words(request, resultTexts(request.messages).join(' '));
        },
      },
      { agent: 'asker' },
    );
    const { editor } = await place.editor({ choose: ({ options }) => options[1]?.optionId });
    const session = await editor.open(HERE);
    expect(await editor.prompt(session, 'paint it')).toBe('end_turn');
    expect(editor.asked[0]).toMatchObject({ toolCall: { title: 'Which one?' }, options: [{ name: 'red' }, { name: 'blue' }, {}] });
    expect(editor.messages.at(-1)).toBe('agent_message: Why?');
    expect(await editor.prompt(session, 'because')).toBe('end_turn');
    expect(editor.messages.at(-1)).toBe('agent_message: blue because');
    expect((await place.client.session(session).query()).runs).toHaveLength(1);
  });

  it('an editor with forms gets one for a question: an answer reaches the run, a declined form does too', async () => {
    const asked: string[] = [];
    const place = await editors.place(
      {
        config: ASKING,
        model: (request, nth) => {
          if (nth <= 2) return call(['ask_user', { question: `Why ${nth}?` }]);
          return words(request, resultTexts(request.messages).join(' | '));
        },
      },
      { agent: 'asker' },
    );
    const { editor } = await place.editor({
      fill({ message }) {
        asked.push(message);
        return asked.length === 1 ? { action: 'accept', content: { answer: 'for science' } } : { action: 'decline' };
      },
    });
    expect(await editor.prompt(await editor.open(HERE), 'do it')).toBe('end_turn');
    expect(asked).toEqual(['Why 1?', 'Why 2?']);
    expect(editor.messages.at(-1)).toMatch(/^agent_message: for science \| .*declined/u);
  });
});

describe('A-34: a loaded conversation', () => {
  it('has each prompt and its whole answer once, and an answer in work continues: also when the first server has ended', async () => {
    const half = latch();
    const place = await editors.place({
      tools: [lookUp],
      model: (request, nth) => {
        if (nth === 1) return words(request, 'I look.', call(['look_up', { order: 7 }]));
        return nth === 2 ? words(request, 'It is sent.') : inHalves(half.opened)(request);
      },
    });
    const first = await place.editor();
    const session = await first.editor.open(HERE);
    await first.editor.prompt(session, 'where is it?');
    const lost = first.editor.fails(first.editor.prompt(session, 'and the other one?'));
    await first.editor.sees('agent_message: first ');
    await first.end();
    expect(await lost).toMatch(/^ENDED: /u);

    const { editor } = await place.editor();
    await editor.load(session, HERE);
    await editor.sees('agent_message: first ');
    half.open();
    await editor.sees('agent_message: first and last');
    expect(editor.messages).toEqual([
      'user_message: where is it?',
      'agent_message: I look.',
      'agent_message: It is sent.',
      'user_message: and the other one?',
      'agent_message: first and last',
    ]);
    expect(editor.call('look_up')).toMatchObject({ status: 'completed', rawOutput: 'order 7 is sent' });
    const again = await place.editor();
    await again.editor.load(session, HERE);
    await again.editor.sees('agent_message: first and last');
    expect(again.editor.messages).toEqual(editor.messages);
  });

  it('a call that waits for approval asks the new editor, and a cancel there ends the run', async () => {
    const place = await editors.place({ tools: [refund], model: () => call(['refund', { order: 1 }]) });
    const first = await place.editor({ choose: () => undefined });
    const session = await first.editor.open(HERE);
    first.editor.prompt(session, 'refund it').catch(() => undefined);
    await until(() => first.editor.asked.length === 1, 'the question');
    await first.end();
    const { editor } = await place.editor({ choose: () => undefined });
    await editor.load(session, HERE);
    await until(() => editor.asked.length === 1, 'the question, again');
    await editor.cancel(session);
    const reason = async (): Promise<string | undefined> => (await place.client.session(session).query()).runs[0]?.reason;
    await expect.poll(reason).toBe('cancelled');
  });
});
