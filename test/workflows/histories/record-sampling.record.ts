import { describe, it } from 'vitest';
import { ask, useSamplingDesk } from '../../activities/mcp/support/sampling-desk.js';
import { say } from '../../support/agent-worker.js';
import { until, untilAborted } from '../../support/use-workers.js';
import { historySaver } from './save-history.js';

const { save } = historySaver('0.6');

describe('record a run whose MCP server requests completions', () => {
  const desk = useSamplingDesk();

  it('two that are answered, one that the server withdraws, and one that a message ends', async () => {
    const requests = [ask('a'), ask('b', { temperature: 0.5, systemPrompt: 'Be short.' })];
    const { run: begin, completions } = await desk(
      [
        ['desk_look', { requests }],
        ['desk_brief', {}],
        ['desk_book', {}],
      ],
      {
        worker: { identity: 'recorder' },
        answer: ({ signal, messages }) => (JSON.stringify(messages).includes('hello') ? untilAborted(signal) : say('blue')),
      },
    );
    const run = await begin({ deadlineMs: 600_000, maxTokens: 50_000 });
    await until(() => completions.length === 4, 'the last completion');
    await run.handle.signal('steer', { id: 'm1', text: 'never mind', mode: 'preempt' });
    await save('sampling', run);
  });
});
