import { type LanguageModelV2, type LanguageModelV2StreamPart, LoadAPIKeyError } from '@ai-sdk/provider';
import { convertArrayToReadableStream, MockLanguageModelV3 } from 'ai/test';
import { describe, expect, it } from 'vitest';
import type { AiSdkProvider } from '../../../src/define/provider-definition.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { createAiSdkProvider } from '../../../src/providers/ai-sdk/ai-sdk.js';
import type { AiSdkCall } from '../../../src/providers/ai-sdk/model.js';
import { answering, askAiSdk, FINISH, IMAGE, TEXT, throwing, withResultImage } from '../support/ask-ai-sdk.js';
import { modelRequest } from '../support/wire.js';

describe('a model of the AI SDK', () => {
  it.each([
    ['a string', 'openai/gpt-5', /returned a string/u],
    ['nothing', undefined, /returned undefined/u],
    ['an old version', { specificationVersion: 'v1', doStream: () => undefined }, /version v1; supported: v2, v3, v4/u],
    ['another kind of model', { specificationVersion: 'v3', doGenerate: () => undefined }, /no doStream/u],
  ])('that is %s is refused with one line', async (_, model, message) => {
    await expect(askAiSdk(model)).rejects.toMatchObject({ type: 'Model.BadRequest', message: expect.stringMatching(message) });
  });

  it('is made once for each id, with keys by reference; a missing one is named', async () => {
    const made: string[] = [];
    const languageModel: AiSdkProvider['languageModel'] = (modelId, { key }) => {
      made.push(`${modelId} ${key('env:SOME_KEY')} ${key('env:FREE_VARIABLE')}`);
      return new MockLanguageModelV3({ doStream: async () => ({ stream: convertArrayToReadableStream([...TEXT, FINISH]) }) });
    };
    const keys = captureKeys({ SOME_KEY: 'k-1' }, ['SOME_KEY']);
    const provider = createAiSdkProvider({ languageModel }, { keys, env: { FREE_VARIABLE: 'free' } });
    await provider.call(modelRequest({ model: 'a' }));
    await provider.call(modelRequest({ model: 'a' }));
    await provider.call(modelRequest({ model: 'b' }));
    expect(made).toEqual(['a k-1 free', 'b k-1 free']);
    const keyless = createAiSdkProvider({ languageModel }, { keys: captureKeys({}), env: {} });
    await expect(keyless.call(modelRequest())).rejects.toMatchObject({
      type: 'Model.Auth',
      message: expect.stringContaining('SECRET_MISSING env:SOME_KEY'),
    });
  });

  it('whose package finds no key is Model.Auth, and told how to hand it over', async () => {
    const model = throwing(new LoadAPIKeyError({ message: 'OpenAI API key is missing.' }));
    await expect(askAiSdk(model)).rejects.toMatchObject({ type: 'Model.Auth', message: expect.stringContaining("key('env:NAME')") });
  });

  it('of version 2 is asked and read in its own words', async () => {
    const calls: unknown[] = [];
    const parts: LanguageModelV2StreamPart[] = [
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'Hi.' },
      { type: 'text-end', id: 't' },
      {
        type: 'finish',
        finishReason: 'stop',
        usage: { inputTokens: 10, outputTokens: 7, totalTokens: 17, cachedInputTokens: 30, reasoningTokens: 3 },
        providerMetadata: { anthropic: { cacheCreationInputTokens: 10 } },
      },
    ];
    const model = versionTwo((call) => {
      calls.push(call);
      return parts;
    });
    await expect(askAiSdk(model, { messages: withResultImage(), toolChoice: 'none' })).resolves.toEqual({
      parts: [{ type: 'text', text: 'Hi.' }],
      stop: 'end',
      usage: { inputTokens: 50, outputTokens: 7, cacheReadTokens: 30, cacheWriteTokens: 10, reasoningTokens: 3 },
    });
    expect(calls[0]).toMatchObject({ toolChoice: { type: 'auto' } });
    expect(outputIn(calls[0])).toMatchObject([{ type: 'text' }, { type: 'media', mediaType: 'image/png', data: IMAGE.dataBase64 }]);
    const cut = versionTwo(() => [...parts.slice(0, -1), { ...parts.at(-1), finishReason: 'unknown' } as LanguageModelV2StreamPart]);
    await expect(askAiSdk(cut)).rejects.toMatchObject({ type: 'Model.StreamTruncated' });
  });

  it('of version 3 has images as bare base64', async () => {
    const model = answering([...TEXT, FINISH], 'anthropic.messages');
    await askAiSdk(model, { messages: withResultImage() });
    expect(outputIn(model.doStreamCalls[0])).toMatchObject([{ type: 'text' }, { type: 'image-data', data: IMAGE.dataBase64 }]);
    expect(model.doStreamCalls[0]?.prompt[1]?.content).toMatchObject([
      {},
      { type: 'file', mediaType: 'image/png', data: IMAGE.dataBase64 },
    ]);
  });

  it('of version 4 has images with a tag, a word for thinking that all share, pings, and a finish of its own for a cut answer', async () => {
    const calls: AiSdkCall[] = [];
    const four = (parts: readonly unknown[], provider = 'anthropic.messages') => ({
      specificationVersion: 'v4',
      provider,
      modelId: 'm',
      supportedUrls: {},
      doStream: async (given: AiSdkCall) => {
        calls.push(given);
        return { stream: convertArrayToReadableStream([...parts]) };
      },
    });
    const effort = { style: 'effort', effort: 'high' } as const;
    const answer = await askAiSdk(four([{ type: 'ping' }, ...TEXT, FINISH]), { messages: withResultImage(), thinking: effort });
    expect(answer).toMatchObject({ stop: 'end', parts: [{ text: 'Hello you.' }], usage: { inputTokens: 50 } });
    const tagged = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: IMAGE.dataBase64 } };
    expect(outputIn(calls[0])).toEqual([{ type: 'text', text: 'a picture' }, tagged]);
    expect(calls[0]?.prompt[1]?.content).toMatchObject([{}, tagged]);
    expect(calls[0]).not.toHaveProperty('reasoning');
    await askAiSdk(four([...TEXT, FINISH], 'nobody.chat'), { thinking: effort });
    await askAiSdk(four([...TEXT, FINISH], 'nobody.chat'), { thinking: { style: 'budget', tokens: 2_000 } });
    expect(calls.slice(1).map(({ reasoning, providerOptions }) => ({ reasoning, providerOptions }))).toEqual([
      { reasoning: 'high', providerOptions: {} },
      { reasoning: undefined, providerOptions: {} },
    ]);
    const cut = { ...FINISH, finishReason: { unified: 'interrupted', raw: 'x' } };
    await expect(askAiSdk(four([...TEXT, cut]))).rejects.toMatchObject({ type: 'Model.StreamTruncated' });
  });
});

function versionTwo(answer: (call: unknown) => LanguageModelV2StreamPart[]): LanguageModelV2 {
  return {
    specificationVersion: 'v2',
    provider: 'anthropic.messages',
    modelId: 'm',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('only streams are asked for')),
    doStream: async (call) => ({ stream: convertArrayToReadableStream(answer(call)) }),
  };
}

/** What a call's last message holds as the content of its first result. */
function outputIn(call: unknown): unknown {
  const { prompt } = call as AiSdkCall;
  const last = prompt.at(-1);
  const output = last?.role === 'tool' ? last.content[0]?.output : undefined;
  return output?.value;
}
