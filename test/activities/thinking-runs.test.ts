import { afterEach, describe, expect, it } from 'vitest';
import { createAnthropicProvider } from '../../src/activities/providers/anthropic.js';
import type { ThinkingOrder } from '../../src/activities/providers/provider.js';
import { startWireServer, type WireServer } from '../../src/testing/wire-server.js';
import { useWorkers } from '../support/use-workers.js';
import { readTool } from './support/over-wire.js';

const step = (path: string) => ({ thinking: `I need ${path}.`, toolCalls: [{ name: 'read', args: { path } }] });

describe('a run whose model thinks between its calls, over a server that is strict about it', () => {
  const { worker, start } = useWorkers();
  const servers: WireServer[] = [];
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  it.each<[string, ThinkingOrder]>([
    ['that decides how much', { style: 'adaptive', effort: 'medium' }],
    ['that is told a budget', { style: 'budget', tokens: 2_000 }],
  ])('comes to its end with a model %s, also through the warning before its cap', async (_, thinking) => {
    const steps = [step('a'), step('b'), step('c'), step('d'), { thinking: 'All read.', text: 'done' }];
    const server = await startWireServer({ script: { steps }, formats: ['anthropic'] });
    servers.push(server);
    const provider = createAnthropicProvider({ baseUrl: server.anthropicBaseUrl, apiKey: server.apiKey });
    const ran: string[] = [];
    const on = await worker({ model: (request) => provider.call({ ...request, thinking }), tools: [readTool(ran)] });
    expect(await (await start(on, { maxTurns: 5 })).result()).toMatchObject({ reason: 'completed', output: 'done', turns: 5 });
    expect(ran).toEqual(['a', 'b', 'c', 'd']);
    expect(on.requests.filter(({ requestOnlyMessages }) => requestOnlyMessages === 1)).toHaveLength(1);
    expect(server.requests.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 5 }, () => 'answered'));
  });

  it('has its reserved final answer, although what it thought last is no longer followed by a call', async () => {
    const server = await startWireServer({
      script: { steps: [step('a'), step('b')], final: { thinking: 'Sum up.', text: 'two read' } },
      formats: ['anthropic'],
    });
    servers.push(server);
    const provider = createAnthropicProvider({ baseUrl: server.anthropicBaseUrl, apiKey: server.apiKey });
    const thinking = { style: 'adaptive', effort: 'high' } as const;
    const on = await worker({ model: (request) => provider.call({ ...request, thinking }), tools: [readTool([])] });
    expect(await (await start(on, { maxTurns: 2 })).result()).toMatchObject({ reason: 'max_turns', output: 'two read', finalized: true });
    expect(server.requests.map(({ outcome }) => outcome)).toEqual(['answered', 'answered', 'answered']);
  });
});
