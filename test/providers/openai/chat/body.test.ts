import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../src/contracts/schemas/message.js';
import type { ProviderQuirks } from '../../../../src/define/provider-quirks.js';
import type { ModelRequest, ThinkingOrder } from '../../../../src/providers/contract/provider.js';
import { toChatBody } from '../../../../src/providers/openai/chat/body.js';
import { answer, calls, results, user } from '../../support/turns.js';
import { modelRequest } from '../../support/wire.js';

const ELSEWHERE = 'http://127.0.0.1:9/v1';
const OPENAI = 'https://api.openai.com/v1';

function bodyOf(fields: Partial<ModelRequest>, quirks: ProviderQuirks = {}, baseUrl = ELSEWHERE) {
  return toChatBody(modelRequest(fields), { baseUrl, apiKey: 'none', quirks }).body;
}

const OFF: ThinkingOrder = { style: 'off' };
const LOW: ThinkingOrder = { style: 'effort', effort: 'low' };
const DEEPSEEK: ProviderQuirks = { thinkingField: 'thinking' };
const TOKENS: ThinkingOrder = { style: 'budget', tokens: 5_000 };

/** An answer that thought before its call. */
function thought(opaque?: object): Message {
  return { ...calls('c1'), parts: [{ type: 'thinking', text: 'I need it.', ...opaque }, ...calls('c1').parts] };
}

describe('the temperature over chat completions', () => {
  it('is sent if the request has one', () => {
    expect(bodyOf({ temperature: 0.5 })).toMatchObject({ temperature: 0.5 });
    expect(bodyOf({})).not.toHaveProperty('temperature');
  });
});

describe('thinking over chat completions', () => {
  it.each<[ProviderQuirks['thinkingField'], ThinkingOrder, object]>([
    [undefined, LOW, { reasoning_effort: 'low' }],
    [undefined, OFF, { reasoning_effort: 'none' }],
    [undefined, TOKENS, { reasoning_effort: 'medium' }],
    ['reasoning_effort', { style: 'adaptive', effort: 'high' }, { reasoning_effort: 'high' }],
    ['reasoning', LOW, { reasoning: { effort: 'low' } }],
    ['reasoning', OFF, { reasoning: { enabled: false } }],
    ['reasoning', TOKENS, { reasoning: { max_tokens: 5_000 } }],
    ['enable_thinking', LOW, { chat_template_kwargs: { enable_thinking: true } }],
    ['enable_thinking', OFF, { chat_template_kwargs: { enable_thinking: false } }],
    ['thinking', TOKENS, { thinking: { type: 'enabled' } }],
    ['thinking', OFF, { thinking: { type: 'disabled' } }],
    ['none', LOW, {}],
  ])('goes into the field %s: %o', (thinkingField, thinking, fields) => {
    const quirks = thinkingField === undefined ? {} : { thinkingField };
    const { model, messages, stream, stream_options, max_tokens, tools, tool_choice, ...rest } = bodyOf({ thinking }, quirks);
    expect(rest).toEqual(fields);
    expect([model, messages, stream, stream_options, max_tokens, tools, tool_choice]).not.toContain(undefined);
  });

  it.each(['reasoning_content', 'reasoning'] as const)(
    'goes back with the calls it led to where a server wants %s, empty where it is not its own',
    (field) => {
      const said = { ...answer('Done.'), parts: [...thought().parts.slice(0, 1), ...answer('Done.').parts] };
      const messages = [
        user('Go.'),
        thought(),
        results('c1'),
        thought({ opaque: '{"signature":"s"}' }),
        results('c1'),
        said,
        user('More.'),
      ];
      const sent = bodyOf({ messages }, { thinkingBack: field }).messages.filter(({ role }) => role === 'assistant');
      expect(sent.map((message) => Object.entries(message).find(([name]) => name === field)?.[1])).toEqual(['I need it.', '', undefined]);
      expect(JSON.stringify(bodyOf({ messages }).messages)).not.toContain('I need it.');
    },
  );

  it('nothing is said of it when nothing is asked for', () => {
    expect(Object.keys(bodyOf({}))).toEqual(['model', 'messages', 'stream', 'stream_options', 'max_tokens', 'tools', 'tool_choice']);
  });
});

describe('the body of chat completions', () => {
  it.each<[string, ProviderQuirks, string, object]>([
    ['max_completion_tokens for OpenAI', {}, OPENAI, { max_completion_tokens: 1_000 }],
    ['max_completion_tokens for Azure', {}, 'https://mine.openai.azure.com/openai/v1', { max_completion_tokens: 1_000 }],
    ['max_tokens elsewhere', {}, ELSEWHERE, { max_tokens: 1_000 }],
    ['what the quirks name', { outputLimitField: 'max_completion_tokens' }, ELSEWHERE, { max_completion_tokens: 1_000 }],
  ])('names the output limit: %s', (_, quirks, baseUrl, limit) => {
    const { max_tokens, max_completion_tokens } = bodyOf({}, quirks, baseUrl);
    expect({ ...(max_tokens ? { max_tokens } : {}), ...(max_completion_tokens ? { max_completion_tokens } : {}) }).toEqual(limit);
  });

  it('asks for usage, but not of servers that refuse to be asked', () => {
    expect(bodyOf({}).stream_options).toEqual({ include_usage: true });
    expect(bodyOf({}, { streamUsage: false })).not.toHaveProperty('stream_options');
  });

  it('does not force a call upon a model that thinks where such a server refuses it, as DeepSeek does', () => {
    for (const thinking of [{}, { thinking: LOW }]) {
      expect(bodyOf({ toolChoice: 'required', ...thinking }, DEEPSEEK).tool_choice).toBe('auto');
      expect(bodyOf({ toolChoice: 'none', ...thinking }, DEEPSEEK).tool_choice).toBe('none');
    }
    expect(bodyOf({ toolChoice: 'required', thinking: OFF }, DEEPSEEK).tool_choice).toBe('required');
    expect(bodyOf({ toolChoice: 'required', thinking: LOW }).tool_choice).toBe('required');
  });

  it('asks for one call in an answer where a server takes no more', () => {
    expect(bodyOf({})).not.toHaveProperty('parallel_tool_calls');
    expect(bodyOf({}, { parallelToolCalls: false })).toMatchObject({ parallel_tool_calls: false });
    expect(bodyOf({ tools: [] }, { parallelToolCalls: false })).not.toHaveProperty('parallel_tool_calls');
  });

  it.each([
    ['goes to OpenAI', {}, OPENAI, 'session-1', 'session-1'],
    ['goes to servers that know it', { promptCacheKey: true }, ELSEWHERE, 'session-1', 'session-1'],
    ['goes to nobody else', {}, ELSEWHERE, 'session-1', undefined],
    ['is kept from OpenAI when a config says so', { promptCacheKey: false }, OPENAI, 'session-1', undefined],
    ['is not made up', {}, OPENAI, undefined, undefined],
  ])('the cache key %s', (_, quirks, baseUrl, cacheKey, sent) => {
    const fields = cacheKey === undefined ? {} : { cacheKey };
    expect(bodyOf(fields, quirks, baseUrl).prompt_cache_key).toBe(sent);
  });

  it('a cache key longer than OpenAI takes becomes a shorter one, always the same', () => {
    const keys = ['x', 'x', 'y'].map((end) => bodyOf({ cacheKey: 'k'.repeat(199) + end }, {}, OPENAI).prompt_cache_key);
    expect(keys[0]).toMatch(/^[0-9a-f]{64}$/u);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });

  it('says nothing of tools where there are none', () => {
    const body = bodyOf({ tools: [], toolChoice: 'none' });
    expect(body).not.toHaveProperty('tools');
    expect(body).not.toHaveProperty('tool_choice');
  });
});
