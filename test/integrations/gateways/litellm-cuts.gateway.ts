import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import type { ModelAnswer, ModelProvider } from '../../../src/providers/contract/provider.js';
import type { ScriptStepInput } from '../../../src/providers/scripted/script.js';
import { type ScriptedServer, startScriptedServer } from '../../providers/suite/scripted-server.js';
import { wireProvider } from '../../providers/suite/wire-fixture.js';
import { modelRequest } from '../../providers/support/wire.js';
import { type LiteLlm, startLiteLlm } from './support/litellm.js';

const ARGS = { path: 'notes/a.md', lines: 12, from: 'the end' };
const CALL = { text: 'I read it.', toolCalls: [{ name: 'read_file', args: ARGS }], chunkChars: 3 } as const satisfies ScriptStepInput;
const HALF_CALL = { toolCalls: [{ name: 'read_file', argsText: '{"path":"notes/a' }], stop: 'length' } as const satisfies ScriptStepInput;
/** LiteLLM takes some 30 ms a request. */
const STEP_BYTES = 83;
const MODEL = 'over-chat';

let upstream: ScriptedServer;
let proxy: LiteLlm | undefined;
beforeAll(async () => {
  upstream = await startScriptedServer('openai-chat');
  proxy = await startLiteLlm([
    { name: MODEL, upstream: 'openai/any', baseUrl: `${upstream.url}/v1`, apiKey: upstream.apiKey, overChat: true },
  ]);
});
afterAll(async () => {
  await proxy?.stop();
  await upstream.close();
});

describe.each(['openai-chat', 'openai-responses', 'anthropic'] as const)('what LiteLLM makes of a chat server, asked over %s', (api) => {
  const provider = (): ModelProvider => wireProvider({ api, url: proxy?.url ?? '', apiKey: proxy?.apiKey ?? '' });
  const answerTo = (reply: ScriptStepInput): Promise<ModelAnswer> => {
    upstream.answerWith(reply);
    return provider().call(modelRequest({ model: MODEL }));
  };

  it('a text cut by its length limit is told as such', async () => {
    await expect(answerTo({ text: 'one two', stop: 'length' })).resolves.toMatchObject({ stop: 'length', parts: [{ text: 'one two' }] });
  });

  it('a call cut by its length limit has no arguments that could run', async () => {
    await expect(answerTo(HALF_CALL)).resolves.toMatchObject({ stop: 'length', parts: [{ args: {}, argsText: '{"path":"notes/a' }] });
  });

  it('a connection that is lost is a failure that is tried again, and no answer', async () => {
    const failure: unknown = await answerTo({ ...CALL, fault: { cutAfterEvent: 'text', by: 'close' } }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ModelError);
    expect(failure).toMatchObject({ type: expect.stringMatching(/^Model\.(?:Overloaded|Unreachable|StreamTruncated)$/u) });
  });

  // nothing in its answer tells such a cut from an end: for text this is a danger that only a better gateway takes away
  it('a stream that ends too early is hidden: what came of the text is an answer', async () => {
    await expect(answerTo({ ...CALL, fault: { cutAfterEvent: 'text' } })).resolves.toMatchObject({
      stop: 'end',
      parts: [{ type: 'text', text: expect.stringMatching(/^I /u) }],
    });
  });

  it('a call within a stream that ends too early has all its arguments, none, or a text that is no JSON', async () => {
    const whole = await answerTo(CALL);
    expect(whole.parts.at(-1)).toMatchObject({ args: ARGS });
    const { length } = await upstream.bytesOfLastAnswer();
    const seen = new Set<string>();
    for (let cutAfterBytes = 0; cutAfterBytes < length; cutAfterBytes += STEP_BYTES) {
      const { parts } = await answerTo({ ...CALL, fault: { cutAfterBytes } });
      for (const part of parts)
        if (part.type === 'tool_call') seen.add(part.argsText === undefined ? JSON.stringify(part.args) : 'no JSON');
    }
    expect([...seen].toSorted()).toEqual([JSON.stringify(ARGS), 'no JSON', '{}'].toSorted());
  });
});
