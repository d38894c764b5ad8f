import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages';
import { describe, expect, it } from 'vitest';
import { THINKING_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { Message } from '../../../src/contracts/schemas/message.js';
import type { ProviderQuirks } from '../../../src/define/provider-quirks.js';
import { toAnthropicBody } from '../../../src/providers/anthropic/body.js';
import type { ModelRequest } from '../../../src/providers/contract/provider.js';
import { answer, calls, results, user } from '../support/turns.js';
import { modelRequest } from '../support/wire.js';

function bodyOf(fields: Partial<ModelRequest>, quirks: ProviderQuirks = {}): MessageCreateParamsStreaming {
  return toAnthropicBody(modelRequest(fields), { quirks, account: 'test' }).body;
}

/** Where marks stand: `tools`, `system`, or message and block. */
function marksOf({ system = [], tools = [], messages }: MessageCreateParamsStreaming): string[] {
  return [
    ...tools.filter(isMarked).map(() => 'tools'),
    ...[system]
      .flat()
      .filter(isMarked)
      .map(() => 'system'),
    ...messages.flatMap(({ content }, index) => [content].flat().flatMap((block, at) => (isMarked(block) ? [`${index}.${at}`] : []))),
  ];
}

function isMarked(block: object | string): boolean {
  return typeof block === 'object' && 'cache_control' in block;
}

describe('thinking over the messages API', () => {
  it('says nothing of thinking when nothing is asked for', () => {
    expect(bodyOf({})).not.toHaveProperty('thinking');
  });

  it('off is said', () => {
    expect(bodyOf({ thinking: { style: 'off' } }).thinking).toEqual({ type: 'disabled' });
  });

  it.each([
    ['minimal', 'low'],
    ['high', 'high'],
  ] as const)('a model that decides is told %s as the effort %s, and to show what it thinks', (effort, told) => {
    const body = bodyOf({ thinking: { style: 'adaptive', effort } });
    expect(body).toMatchObject({ thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: told } });
  });

  it('an unknown model is told a level as the budget that it is worth', () => {
    const body = bodyOf({ thinking: { style: 'effort', effort: 'medium' }, outputTokensMax: 20_000 });
    expect(body.thinking).toEqual({ type: 'enabled', budget_tokens: THINKING_LIMITS.budgetTokens.medium });
  });

  it.each([
    ['fits beside a usual answer', 4_000, 12_192, 4_000],
    ['leaves a usual answer its room', 20_000, 24_000, 15_808],
    ['is half of a limit that was lowered', 4_000, 6_000, 3_000],
    ['is never below what the API takes', 100, 6_000, 1_024],
  ])('a budget %s, and is part of the output limit', (_, tokens, outputTokensMax, budget) => {
    const body = bodyOf({ thinking: { style: 'budget', tokens }, outputTokensMax });
    expect(body).toMatchObject({ max_tokens: outputTokensMax, thinking: { type: 'enabled', budget_tokens: budget } });
    expect(budget).toBeLessThan(outputTokensMax);
  });

  it('without room for the least budget the model does not think', () => {
    expect(bodyOf({ thinking: { style: 'budget', tokens: 4_000 }, outputTokensMax: 2_000 }).thinking).toEqual({ type: 'disabled' });
  });

  it('in the midst of calls whose answer began without thinking, a model of budgets does not think', () => {
    const thinking = { style: 'budget', tokens: 4_000 } as const;
    const thought = { type: 'thinking', text: 'hm', opaque: '{"signature":"s"}' } as const;
    const midst = [user('Go.'), calls('c1'), results('c1')];
    const thoughtful = [user('Go.'), { ...calls('c1'), parts: [thought, ...calls('c1').parts] }, results('c1')];
    const typeOf = (messages: readonly Message[]) => bodyOf({ messages, thinking, outputTokensMax: 9_000 }).thinking?.type;
    expect(typeOf(midst)).toBe('disabled');
    expect(typeOf(thoughtful)).toBe('enabled');
    expect(typeOf([...midst, answer('Done.'), user('More.')])).toBe('enabled');
    expect(bodyOf({ messages: midst, thinking: { style: 'adaptive', effort: 'low' } }).thinking?.type).toBe('adaptive');
  });

  it.each([
    ['adaptive', { style: 'adaptive', effort: 'low' }, 'auto'],
    ['a budget', { style: 'budget', tokens: 2_000 }, 'auto'],
    ['off', { style: 'off' }, 'any'],
  ] as const)('a call is not forced while the model thinks: %s', (_, thinking, type) => {
    const fields = { thinking, outputTokensMax: 9_000 };
    expect(bodyOf({ ...fields, toolChoice: 'required' }).tool_choice).toEqual({ type });
    expect(bodyOf({ ...fields, toolChoice: 'none' }).tool_choice).toEqual({ type: 'none' });
  });

  it('what was thought under one account does not go to another', () => {
    const messages = [user('Go.')];
    const under = (account: string) => toAnthropicBody(modelRequest({ messages }), { quirks: {}, account });
    const opaque = JSON.stringify({ signature: 's', model: 'test-model', after: under('mine').after() });
    const thoughtful = { ...answer('So.'), parts: [{ type: 'thinking' as const, text: 'hm', opaque }, ...answer('So.').parts] };
    const sent = (account: string) =>
      toAnthropicBody(modelRequest({ messages: [...messages, thoughtful] }), { quirks: {}, account }).body.messages[1]?.content;
    expect(sent('mine')).toHaveLength(2);
    expect(sent('theirs')).toHaveLength(1);
  });

  it('never names a temperature', () => {
    expect(bodyOf({ thinking: { style: 'adaptive', effort: 'low' } })).not.toHaveProperty('temperature');
  });
});

describe('tools over the messages API', () => {
  it('one call in an answer is asked for where a server takes no more', () => {
    const quirks = { parallelToolCalls: false };
    expect(bodyOf({}, quirks).tool_choice).toEqual({ type: 'auto', disable_parallel_tool_use: true });
    expect(bodyOf({ toolChoice: 'none' }, quirks).tool_choice).toEqual({ type: 'none' });
  });

  it('nothing is said of them where there are none', () => {
    const body = bodyOf({ tools: [] });
    expect(body).not.toHaveProperty('tools');
    expect(body).not.toHaveProperty('tool_choice');
  });
});

describe('cache marks over the messages API', () => {
  const TURNS = [user('Go.'), calls('c1', 'c2'), results('c1', 'c2')];

  it('stand behind prompt and tools, at the end, and where the request before ended', () => {
    expect(marksOf(bodyOf({ messages: TURNS.slice(0, 1) }))).toEqual(['system', '0.0']);
    expect(marksOf(bodyOf({ messages: TURNS }))).toEqual(['system', '0.0', '2.1']);
    expect(marksOf(bodyOf({ messages: [...TURNS, calls('c3'), results('c3')] }))).toEqual(['system', '2.1', '4.0']);
  });

  it('each request marks where the one before it ended, however much came since', () => {
    let messages = [user('Go.')];
    const marks = [1, 40, 3, 25].map((count) => {
      const found = marksOf(bodyOf({ messages }));
      const ids = Array.from({ length: count }, (_, index) => `c${messages.length}-${index}`);
      messages = [...messages, calls(...ids), results(...ids)];
      return found;
    });
    expect(marks).toEqual([
      ['system', '0.0'],
      ['system', '0.0', '2.0'],
      ['system', '2.0', '4.39'],
      ['system', '4.39', '6.2'],
    ]);
  });

  it('stand before what is said in this request only', () => {
    const warning = user('Three turns are left.');
    const body = bodyOf({ messages: [...TURNS, warning], requestOnlyMessages: 1 });
    expect(marksOf(body)).toEqual(['system', '0.0', '2.1']);
    expect(body.messages.at(-1)?.content).toHaveLength(3);
    expect(body.messages.at(-1)?.content.at(-1)).toEqual({ type: 'text', text: 'Three turns are left.' });
  });

  it('stand behind the tools where there is no prompt', () => {
    expect(marksOf(bodyOf({ prompt: '', messages: TURNS }))).toEqual(['tools', '0.0', '2.1']);
    expect(marksOf(bodyOf({ prompt: '', tools: [], messages: TURNS.slice(0, 1) }))).toEqual(['0.0']);
  });

  it('never stand on thinking', () => {
    const thought = {
      ...answer('So'),
      parts: [...answer('So').parts, { type: 'thinking', text: 'hm', opaque: '{"signature":"s"}' } as const],
    };
    const onlyThought = { ...thought, parts: thought.parts.slice(1) };
    expect(marksOf(bodyOf({ messages: [user('Go.'), thought] }))).toEqual(['system', '0.0', '1.0']);
    expect(marksOf(bodyOf({ messages: [user('Go.'), onlyThought] }))).toEqual(['system', '0.0']);
  });
});
