import { describe, expect, it } from 'vitest';
import type { Message, Part } from '../../../../src/contracts/schemas/message.js';
import { toResponsesInput } from '../../../../src/providers/openai/responses/input.js';
import { keptReasoning, reasoningOrigin } from '../../../../src/providers/openai/responses/reasoning.js';
import { call, message, result } from '../../support/message-parts.js';

const SETTINGS = { baseUrl: 'https://api.openai.com/v1', apiKey: 'k-1' };
const ORIGIN = reasoningOrigin(SETTINGS);
const PIXEL = { type: 'file', mime: 'image/png', dataBase64: 'aGk=' } as const;
const PDF = { type: 'file', mime: 'application/pdf', dataBase64: 'aGk=' } as const;
const IMAGE = { type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'auto' };

/** Thinking as the provider keeps it. */
function thought(id: string, following: { type: 'message' | 'function_call'; id: string } | undefined, origin = ORIGIN): Part {
  const item = { type: 'reasoning', id, summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: `sealed-${id}` } as const;
  const opaque = keptReasoning({ ...item, summary: [...item.summary] }, { origin, following });
  return { type: 'thinking', text: 'hm', ...(opaque === undefined ? {} : { opaque }) };
}

function reasoningItem(id: string): object {
  return { type: 'reasoning', id, encrypted_content: `sealed-${id}`, summary: [{ type: 'summary_text', text: 'hm' }] };
}

const inputOf = (...messages: Message[]) => toResponsesInput({ messages, tools: [] }, SETTINGS);

describe('toResponsesInput', () => {
  it('makes an item of each text, call and result', () => {
    const items = inputOf(
      message('user', 'Begin.'),
      message('assistant', 'I will.', call('c1'), call('c2')),
      message('tool', result('c1', { type: 'text', text: 'one' })),
      message('tool', result('c2')),
    );
    expect(items).toEqual([
      { role: 'user', content: 'Begin.' },
      { role: 'assistant', content: 'I will.' },
      ...['c1', 'c2'].map((call_id) => ({ type: 'function_call', call_id, name: 'note', arguments: '{"line":1}' })),
      { type: 'function_call_output', call_id: 'c1', output: 'one' },
      { type: 'function_call_output', call_id: 'c2', output: expect.stringMatching(/\S/u) },
    ]);
  });

  it('sends arguments that were no object as none, and an answer without a word as one that says so', () => {
    expect(inputOf(message('assistant', call('c1', { args: {}, argsText: '{"li' })))).toMatchObject([{ arguments: '{}' }]);
    expect(inputOf(message('assistant', ''))).toEqual([{ role: 'assistant', content: '(no text)' }]);
  });

  it('sends images and documents, also within results; other files by name', () => {
    const other = { type: 'file', mime: 'audio/wav', ref: 'sha256-2', dataBase64: 'aGk=' } as const;
    const document = { type: 'input_file', filename: expect.stringMatching(/\.pdf$/u), file_data: 'data:application/pdf;base64,aGk=' };
    expect(inputOf(message('user', 'See:', PIXEL, PDF, other), message('tool', result('c1', PIXEL)))).toEqual([
      { role: 'user', content: [{ type: 'input_text', text: expect.stringMatching(/See:\n.*sha256-2/u) }, IMAGE, document] },
      { type: 'function_call_output', call_id: 'c1', output: [IMAGE] },
    ]);
  });

  it('names images for a server without them', () => {
    const messages = [message('user', 'See:', PIXEL)];
    const [item] = toResponsesInput({ messages, tools: [] }, { ...SETTINGS, quirks: { images: false } });
    expect(item).toEqual({ role: 'user', content: expect.stringContaining('image/png') });
  });

  it("names documents for servers other than OpenAI's own, unless they are known to take them", () => {
    const at = { ...SETTINGS, baseUrl: 'http://127.0.0.1:1/v1' };
    const request = { messages: [message('user', PDF)], tools: [] };
    expect(toResponsesInput(request, at)).toEqual([{ role: 'user', content: expect.stringContaining('application/pdf') }]);
    expect(toResponsesInput(request, { ...at, quirks: { files: true } })).toMatchObject([{ content: [{ type: 'input_file' }] }]);
  });

  it('sends reasoning back as it came, before the very item that it came before, which then has its id', () => {
    const items = inputOf(
      message(
        'assistant',
        thought('rs_1', { type: 'message', id: 'msg_1' }),
        'So.',
        thought('rs_2', { type: 'function_call', id: 'fc_1' }),
        call('c1'),
      ),
    );
    expect(items).toEqual([
      reasoningItem('rs_1'),
      {
        type: 'message',
        role: 'assistant',
        id: 'msg_1',
        status: 'completed',
        content: [{ type: 'output_text', text: 'So.', annotations: [] }],
      },
      reasoningItem('rs_2'),
      { type: 'function_call', call_id: 'c1', name: 'note', arguments: '{"line":1}', id: 'fc_1' },
    ]);
  });

  it('sends two pieces of reasoning that belong to one item, and only the later of two that do not', () => {
    const following = { type: 'function_call', id: 'fc_1' } as const;
    const both = inputOf(message('assistant', thought('rs_1', following), thought('rs_2', following), call('c1')));
    expect(both).toMatchObject([reasoningItem('rs_1'), reasoningItem('rs_2'), { id: 'fc_1' }]);
    const later = inputOf(message('assistant', thought('rs_1', { type: 'message', id: 'msg_1' }), thought('rs_2', following), call('c1')));
    expect(later).toMatchObject([reasoningItem('rs_2'), { id: 'fc_1' }]);
  });

  it.each([
    ['whose text is gone', [thought('rs_1', { type: 'message', id: 'msg_1' }), call('c1')]],
    ['whose item has no name', [thought('rs_1', undefined), call('c1')]],
    ['of another account', [thought('rs_1', { type: 'function_call', id: 'fc_1' }, 'other'), call('c1')]],
    ['of another provider', [{ type: 'thinking', text: 'hm', opaque: '{"signature":"s1"}' }, call('c1')]],
    ['that nobody signed', [{ type: 'thinking', text: 'hm' }, { type: 'thinking', text: 'hm', opaque: 'no JSON' }, call('c1')]],
  ] satisfies [string, Part[]][])('leaves reasoning out %s', (_, parts) => {
    expect(inputOf(message('assistant', ...parts))).toEqual([
      { type: 'function_call', call_id: 'c1', name: 'note', arguments: '{"line":1}' },
    ]);
  });

  it('leaves reasoning out that led to nothing', () => {
    expect(inputOf(message('assistant', thought('rs_1', { type: 'message', id: 'msg_1' })))).toEqual([
      { role: 'assistant', content: '(no text)' },
    ]);
  });
});

describe('reasoningOrigin', () => {
  it('differs by server and by key, and holds no part of the key', () => {
    const key = 'sk-canary-0123456789';
    const here = reasoningOrigin({ baseUrl: 'https://a.example/v1', apiKey: key });
    expect(here).toBe(reasoningOrigin({ baseUrl: 'https://a.example/v1', apiKey: key }));
    expect(here).not.toBe(reasoningOrigin({ baseUrl: 'https://b.example/v1', apiKey: key }));
    expect(here).not.toBe(reasoningOrigin({ baseUrl: 'https://a.example/v1', apiKey: `${key}0` }));
    expect(here).toMatch(/^[0-9a-f]{8}$/u);
  });
});
