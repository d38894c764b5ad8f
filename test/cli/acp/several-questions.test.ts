import { describe, expect, it } from 'vitest';
import { resultTexts } from '../../activities/support/result-texts.js';
import { call } from '../../support/agent-worker.js';
import { until } from '../../support/use-workers.js';
import { words } from '../http/support/chat-agent.js';
import { ASKING, useEditors } from './support/use-editors.js';

const editors = useEditors();
const HERE = '/srv/project';

/** An editor whose agent asks two questions, of which one is shown. */
async function asked() {
  const place = await editors.place(
    {
      config: ASKING,
      model: (request, nth) =>
        nth === 1
          ? call(['ask_user', { question: 'Which database?' }], ['ask_user', { question: 'Which port?' }])
          : words(request, resultTexts(request.messages).join(' ')),
    },
    { agent: 'asker' },
  );
  const { editor } = await place.editor();
  const session = await editor.open(HERE);
  expect(await editor.prompt(session, 'set up')).toBe('end_turn');
  const { active = '' } = await place.client.session(session).query();
  const run = place.client.get(active);
  await until(async () => (await run.approvals()).questions?.length === 2, 'both questions');
  return { editor, session, run };
}

describe('several questions of one answer, in an editor without forms', { timeout: 60_000 }, () => {
  it('are asked one after the other, and each prompt answers the one that is shown', async () => {
    const { editor, session } = await asked();
    expect(editor.messages.at(-1)).toContain('Which database?');
    expect(editor.messages.some((text) => text.includes('Which port?'))).toBe(false);
    expect(await editor.prompt(session, 'postgres')).toBe('end_turn');
    expect(editor.messages.at(-1)).toContain('Which port?');
    expect(await editor.prompt(session, '5432')).toBe('end_turn');
    expect(editor.messages.at(-1)).toBe('agent_message: postgres 5432');
  });

  it('one that another person answers makes way for the next', async () => {
    const { editor, session, run } = await asked();
    const { questions = [] } = await run.approvals();
    const first = questions.find(({ question }) => question === 'Which database?');
    await run.answer(first?.callId ?? '', 'sqlite', { by: 'ann' });
    await until(() => editor.messages.some((text) => text.includes('Which port?')), 'the next question');
    expect(await editor.prompt(session, '5432')).toBe('end_turn');
    expect(editor.messages.at(-1)).toBe('agent_message: sqlite 5432');
  });
});
