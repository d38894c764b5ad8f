import { describe, expect, it } from 'vitest';
import { createAnthropicProvider } from '../../../src/providers/anthropic/anthropic.js';
import type { ThinkingOrder } from '../../../src/providers/contract/provider.js';
import type { StreamEvent } from '../../../src/streams/stream.js';
import { useModels } from '../../e2e/support/use-models.js';
import { say } from '../../support/agent-worker.js';
import { useWorkers } from '../../support/use-workers.js';
import { readTool } from '../support/over-wire.js';

const step = (path: string) => ({ thinking: `I need ${path}.`, toolCalls: [{ name: 'read', args: { path } }] });

describe('a run whose model thinks between its calls, over a server that is strict about it', () => {
  const { worker, start } = useWorkers();
  const model = useModels();

  it.each<[string, ThinkingOrder]>([
    ['that decides how much', { style: 'adaptive', effort: 'medium' }],
    ['that is told a budget', { style: 'budget', tokens: 2_000 }],
  ])('comes to its end with a model %s, also through the warning before its cap', async (_, thinking) => {
    const steps = [step('a'), step('b'), step('c'), step('d'), { thinking: 'All read.', text: 'done' }];
    const server = await model({ script: { steps }, formats: ['anthropic'] });
    const provider = createAnthropicProvider({ baseUrl: server.anthropicBaseUrl, apiKey: server.apiKey });
    const ran: string[] = [];
    const on = await worker({ model: (request) => provider.call({ ...request, thinking }), tools: [readTool(ran)] });
    expect(await (await start(on, { maxTurns: 5 })).result()).toMatchObject({ reason: 'completed', output: 'done', turns: 5 });
    expect(ran).toEqual(['a', 'b', 'c', 'd']);
    expect(on.requests.filter(({ requestOnlyMessages }) => requestOnlyMessages === 1)).toHaveLength(1);
    expect(server.requests.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 5 }, () => 'answered'));
  });

  it('has its reserved final answer, although what it thought last is no longer followed by a call', async () => {
    const server = await model({
      script: { steps: [step('a'), step('b')], final: { thinking: 'Sum up.', text: 'two read' } },
      formats: ['anthropic'],
    });
    const provider = createAnthropicProvider({ baseUrl: server.anthropicBaseUrl, apiKey: server.apiKey });
    const thinking = { style: 'adaptive', effort: 'high' } as const;
    const on = await worker({ model: (request) => provider.call({ ...request, thinking }), tools: [readTool([])] });
    expect(await (await start(on, { maxTurns: 2 })).result()).toMatchObject({ reason: 'max_turns', output: 'two read', finalized: true });
    expect(server.requests.map(({ outcome }) => outcome)).toEqual(['answered', 'answered', 'answered']);
  });
});

describe('what watchers see of a run that thinks', () => {
  const { worker, start } = useWorkers();

  it.each([
    ['apart', ['thinking: Hm.', 'text: Yes.']],
    ['suppressed', ['text: Yes.']],
    ['included', ['text: <thinking>Hm.', 'text: </thinking>\n', 'text: Yes.']],
  ] as const)('C-36: %s is what its policy says, and the transcript is the same', async (thinkingOutput, expected) => {
    const seen: StreamEvent[] = [];
    const on = await worker({
      policy: { thinkingOutput },
      streams: { publish: (event) => void seen.push(event), flush: () => Promise.resolve() },
      model: ({ onDelta }) => {
        onDelta({ type: 'thinking', text: 'Hm.' });
        onDelta({ type: 'text', text: 'Yes.' });
        return { ...say('Yes.'), parts: [{ type: 'thinking', text: 'Hm.' }, ...say('Yes.').parts] };
      },
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', output: 'Yes.' });
    expect(seen.flatMap((event) => ('text' in event ? [`${event.type}: ${event.text}`] : []))).toEqual(expected);
    expect((await run.messages()).at(-1)?.parts).toEqual([
      { type: 'thinking', text: 'Hm.' },
      { type: 'text', text: 'Yes.' },
    ]);
  });
});
