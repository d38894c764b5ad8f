import { describe, expect, it } from 'vitest';
import type { ProviderQuirks } from '../../../../src/define/provider-quirks.js';
import type { ThinkingOrder } from '../../../../src/providers/contract/provider.js';
import { toResponsesBody } from '../../../../src/providers/openai/responses/body.js';
import { modelRequest } from '../../support/wire.js';

const OPENAI = { baseUrl: 'https://api.openai.com/v1', apiKey: 'k' };

function bodyOf(fields: Parameters<typeof modelRequest>[0], quirks: ProviderQuirks = {}, baseUrl = OPENAI.baseUrl) {
  return toResponsesBody(modelRequest(fields), { ...OPENAI, baseUrl, quirks });
}

describe('toResponsesBody', () => {
  it('lets nothing be kept at the server, and puts the prompt beside the conversation', () => {
    expect(bodyOf({ prompt: 'You help.' })).toMatchObject({ store: false, stream: true, instructions: 'You help.' });
    expect(bodyOf({ prompt: ' ' })).not.toHaveProperty('instructions');
  });

  it('describes tools flat and not strict, with the choice that the run makes', () => {
    const { tools, tool_choice } = bodyOf({ toolChoice: 'required' });
    expect(tools).toEqual([expect.objectContaining({ type: 'function', name: 'read_file', description: 'Reads a file.', strict: false })]);
    expect(tool_choice).toBe('required');
    expect(bodyOf({ tools: [] })).not.toHaveProperty('tool_choice');
  });

  it('puts the schemas of tools into the dialect of the server, strict where it says so', () => {
    const [tool] = bodyOf({}, { schemaDialect: 'openai-strict' }).tools ?? [];
    expect(tool).toMatchObject({ strict: true, parameters: { additionalProperties: false, required: ['path'] } });
  });

  it('sends a temperature, but not beside thinking', () => {
    expect(bodyOf({ temperature: 0.5 })).toMatchObject({ temperature: 0.5 });
    expect(bodyOf({ temperature: 0.5, model: 'gpt-5', thinking: { style: 'effort', effort: 'low' } })).not.toHaveProperty('temperature');
  });

  it('asks for no fewer tokens of output than the API takes', () => {
    expect(bodyOf({ outputTokensMax: 5 }).max_output_tokens).toBe(16);
    expect(bodyOf({ outputTokensMax: 500 }).max_output_tokens).toBe(500);
  });

  it.each([
    [
      { style: 'effort', effort: 'minimal' },
      { effort: 'minimal', summary: 'auto' },
    ],
    [
      { style: 'adaptive', effort: 'high' },
      { effort: 'high', summary: 'auto' },
    ],
    [
      { style: 'budget', tokens: 1 },
      { effort: 'minimal', summary: 'auto' },
    ],
    [
      { style: 'budget', tokens: 1_000_000 },
      { effort: 'high', summary: 'auto' },
    ],
  ] satisfies [ThinkingOrder, object][])('tells the thinking %j as %j, and wants it back encrypted', (thinking, reasoning) => {
    expect(bodyOf({ model: 'gpt-5', thinking })).toMatchObject({ reasoning, include: ['reasoning.encrypted_content'] });
  });

  it('says nothing of thinking that was not asked for, but keeps what comes of it', () => {
    const body = bodyOf({ model: 'gpt-5' });
    expect(body).not.toHaveProperty('reasoning');
    expect(body.include).toEqual(['reasoning.encrypted_content']);
  });

  it('turns thinking off by an effort of none', () => {
    const body = bodyOf({ model: 'gpt-5.1', thinking: { style: 'off' } });
    expect(body.reasoning).toEqual({ effort: 'none' });
    expect(body).not.toHaveProperty('include');
  });

  it.each(['gpt-4.1', 'gpt-4o-mini', 'ft:gpt-4.1:acme', 'chatgpt-4o-latest'])(
    'says no word of thinking to %s, which refuses it',
    (model) => {
      const body = bodyOf({ model, thinking: { style: 'off' } });
      expect(body).not.toHaveProperty('reasoning');
      expect(body).not.toHaveProperty('include');
    },
  );

  it('says no word of thinking to a server that has none', () => {
    const body = bodyOf({ model: 'm', thinking: { style: 'effort', effort: 'low' } }, { thinkingField: 'none' });
    expect(body).not.toHaveProperty('reasoning');
    expect(body).not.toHaveProperty('include');
  });

  it('asks for one call at a time where the server can take no more', () => {
    expect(bodyOf({}, { parallelToolCalls: false })).toMatchObject({ parallel_tool_calls: false });
    expect(bodyOf({})).not.toHaveProperty('parallel_tool_calls');
  });

  it("names the cache at OpenAI's own host, and elsewhere where the server is known to take it", () => {
    expect(bodyOf({ cacheKey: 'run-1' })).toMatchObject({ prompt_cache_key: 'run-1' });
    expect(bodyOf({})).not.toHaveProperty('prompt_cache_key');
    expect(bodyOf({ cacheKey: 'run-1' }, {}, 'http://127.0.0.1:1/v1')).not.toHaveProperty('prompt_cache_key');
    expect(bodyOf({ cacheKey: 'run-1' }, { promptCacheKey: true }, 'http://127.0.0.1:1/v1')).toMatchObject({ prompt_cache_key: 'run-1' });
  });
});
