import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProviderQuirks } from '../../../../src/define/provider-quirks.js';
import type { StreamDelta } from '../../../../src/providers/contract/provider.js';
import { createOpenAiChatProvider } from '../../../../src/providers/openai/chat/chat.js';
import { type RawServer, startRawServer, streamOf } from '../../support/raw-server.js';
import { modelRequest } from '../../support/wire.js';

const THINK = { thinkTag: 'think' };

const said = (...pieces: readonly string[]) => pieces.map((content) => ({ content }));

describe('thinking in an answer of chat completions', () => {
  let server: RawServer;
  beforeAll(async () => {
    server = await startRawServer();
  });
  afterAll(() => server.close());

  /** What comes of deltas of a server, each an event of its own. */
  async function read(deltas: readonly object[], quirks: ProviderQuirks = {}, finishReason: string | null = 'stop') {
    const events = [...deltas.map((delta) => ({ delta, finish_reason: null })), { delta: {}, finish_reason: finishReason }];
    server.answerWith(streamOf(...events.map((choice) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`)));
    const shown: StreamDelta[] = [];
    const provider = createOpenAiChatProvider({ baseUrl: `${server.url}/v1`, apiKey: 'none', quirks });
    const { parts } = await provider.call(modelRequest({ onDelta: (delta) => shown.push(delta) }));
    return { parts, shown };
  }

  it('C-36: a tag that is split over events is recognised, and thinking is shown as such at once', async () => {
    const { parts, shown } = await read(said('<th', 'ink>Two', ' files.</', 'think>\n\nI read', ' both.'), THINK);
    expect(parts).toEqual([
      { type: 'thinking', text: 'Two files.' },
      { type: 'text', text: 'I read both.' },
    ]);
    expect(shown).toEqual([
      { type: 'thinking', text: 'Two' },
      { type: 'thinking', text: ' files.' },
      { type: 'text', text: 'I read' },
      { type: 'text', text: ' both.' },
    ]);
  });

  it('C-36: a tag in code is text', async () => {
    const { parts } = await read(said('Write `<thi', 'nk>` first.'), THINK);
    expect(parts).toEqual([{ type: 'text', text: 'Write `<think>` first.' }]);
  });

  it('what looked like the beginning of a tag is text when the answer ends with it', async () => {
    const { parts, shown } = await read(said('a <thi'), THINK);
    expect(parts).toEqual([{ type: 'text', text: 'a <thi' }]);
    expect(shown.map((delta) => 'text' in delta && delta.text).join('')).toBe('a <thi');
  });

  it('also when a server without finish reasons ended it', async () => {
    const { parts } = await read(said('a <thi'), { ...THINK, strictTerminal: false }, null);
    expect(parts).toEqual([{ type: 'text', text: 'a <thi' }]);
  });

  it('a thought whose opening tag stood in the prompt is kept as thinking', async () => {
    const { parts } = await read(said('Two ', 'files.', '</think>', '\nI read both.'), THINK);
    expect(parts).toEqual([
      { type: 'thinking', text: 'Two files.' },
      { type: 'text', text: 'I read both.' },
    ]);
  });

  it('tags are text for a server that has none', async () => {
    const { parts } = await read(said('<think>a</think>b'));
    expect(parts).toEqual([{ type: 'text', text: '<think>a</think>b' }]);
  });

  it.each(['reasoning_content', 'reasoning'])('comes apart in the field %s', async (field) => {
    const { parts } = await read([{ [field]: 'Two ' }, { [field]: 'files.' }, ...said('Yes.')], THINK);
    expect(parts).toEqual([
      { type: 'thinking', text: 'Two files.' },
      { type: 'text', text: 'Yes.' },
    ]);
  });

  it('comes among typed pieces of the content', async () => {
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Two files.' }] };
    const { parts } = await read([
      { content: [thinking] },
      { content: [{ type: 'text', text: 'Yes' }, { type: 'reference' }] },
      ...said('.'),
    ]);
    expect(parts).toEqual([
      { type: 'thinking', text: 'Two files.' },
      { type: 'text', text: 'Yes.' },
    ]);
  });
});
