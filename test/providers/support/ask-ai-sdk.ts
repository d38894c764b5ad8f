import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { convertArrayToReadableStream, MockLanguageModelV3 } from 'ai/test';
import type { Message } from '../../../src/contracts/schemas/message.js';
import type { AiSdkProvider } from '../../../src/define/provider-definition.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { createAiSdkProvider } from '../../../src/providers/ai-sdk/ai-sdk.js';
import type { ModelAnswer, ModelRequest } from '../../../src/providers/contract/provider.js';
import { modelRequest } from './wire.js';

/** The end of a whole answer. */
export const FINISH: Extract<LanguageModelV3StreamPart, { type: 'finish' }> = {
  type: 'finish',
  finishReason: { unified: 'stop', raw: 'stop' },
  usage: {
    inputTokens: { total: 50, noCache: 10, cacheRead: 30, cacheWrite: 10 },
    outputTokens: { total: 7, text: 4, reasoning: 3 },
  },
};

/** One text in two pieces. */
export const TEXT: LanguageModelV3StreamPart[] = [
  { type: 'text-start', id: 't' },
  { type: 'text-delta', id: 't', delta: 'Hello ' },
  { type: 'text-delta', id: 't', delta: 'you.' },
  { type: 'text-end', id: 't' },
];

/** An image as a transcript has it. */
export const IMAGE = { type: 'file', mime: 'image/png', dataBase64: 'iVBORw0KGgo=' } as const;

/** The AI SDK's own mock, which answers each call with these parts. */
export function answering(parts: LanguageModelV3StreamPart[], provider = 'mock-provider'): MockLanguageModelV3 {
  return new MockLanguageModelV3({ provider, doStream: async () => ({ stream: convertArrayToReadableStream(parts) }) });
}

/** One that fails before it answers. */
export function throwing(error: Error): MockLanguageModelV3 {
  return new MockLanguageModelV3({
    doStream: async () => {
      throw error;
    },
  });
}

/** Asks a model through the provider. */
export function askAiSdk(
  model: unknown,
  request: Partial<ModelRequest> = {},
  settings: Pick<AiSdkProvider, 'providerOptions'> = {},
): Promise<ModelAnswer> {
  const provider = createAiSdkProvider({ languageModel: () => model, ...settings }, { keys: captureKeys({}), env: {} });
  return provider.call(modelRequest(request));
}

/** A call as a transcript has it. */
export function readCall(callId: string): Message['parts'][number] {
  return { type: 'tool_call', callId, name: 'read_file', args: { path: 'a.png' } };
}

/** A user's image, and one in the result of a call. */
export function withResultImage(): Message[] {
  return [
    { id: 'u', role: 'user', parts: [{ type: 'text', text: 'Look.' }, IMAGE] },
    { id: 'a', role: 'assistant', parts: [readCall('call_1')] },
    {
      id: 'r',
      role: 'tool',
      parts: [{ type: 'tool_result', callId: 'call_1', isError: false, parts: [{ type: 'text', text: 'a picture' }, IMAGE] }],
    },
  ];
}
