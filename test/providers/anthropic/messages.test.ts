import { describe, expect, it } from 'vitest';
import type { Part } from '../../../src/contracts/schemas/message.js';
import { call, message, result, text } from '../support/message-parts.js';
import { toAnthropicMessages } from '../support/to-anthropic-messages.js';

const PIXEL = { type: 'file', mime: 'image/png', dataBase64: 'aGk=' } as const;
const ARTIFACT = { type: 'artifact', ref: 'sha256-1', bytes: 90_000, head: 'first lines' } as const;

const thinking = (opaque?: string): Part => ({ type: 'thinking', text: 'hm', ...(opaque === undefined ? {} : { opaque }) });

describe('AnthropicMessages', () => {
  it('puts neighbouring tool and user messages into one, results first, so that roles alternate', () => {
    const messages = [
      message('user', 'Begin.'),
      message('user', 'Really.'),
      message('assistant', call('c1'), call('c2')),
      message('user', 'Steered.'),
      message('tool', result('c1', text('one'))),
      message('tool', result('c2', text('two'))),
      message('user', 'And then?'),
    ];
    expect(toAnthropicMessages(messages)).toMatchObject([
      { role: 'user', content: [{ text: 'Begin.' }, { text: 'Really.' }] },
      { role: 'assistant', content: [{ type: 'tool_use' }, { type: 'tool_use' }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1' },
          { type: 'tool_result', tool_use_id: 'c2' },
          { type: 'text', text: 'Steered.' },
          { type: 'text', text: 'And then?' },
        ],
      },
    ]);
  });

  it('sends signed and redacted thinking back as it came, and leaves out what is not signed or not its own', () => {
    const parts = [thinking('{"signature":"s1"}'), thinking('{"redacted":"r1"}'), thinking(), thinking('other'), thinking('{"x":1}')];
    const [, assistant] = toAnthropicMessages([message('assistant', ...parts, 'Done.')]);
    expect(assistant?.content).toEqual([
      { type: 'thinking', thinking: 'hm', signature: 's1' },
      { type: 'redacted_thinking', data: 'r1' },
      { type: 'text', text: 'Done.' },
    ]);
  });

  it('D-13: a transcript that begins with an answer is sent with a word of the user before it', () => {
    const sent = toAnthropicMessages([message('assistant', 'Done.'), message('user', 'Go on.')]);
    expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(sent[0]?.content).toMatchObject([{ type: 'text', text: expect.stringMatching(/\S/u) }]);
    expect(toAnthropicMessages([message('user', 'Go.')])).toHaveLength(1);
  });

  it('sends no empty text, and no message without content', () => {
    expect(toAnthropicMessages([message('user', '', 'Go.', '  '), message('assistant', '')])).toMatchObject([
      { role: 'user', content: [{ text: 'Go.' }] },
      { role: 'assistant', content: [{ type: 'text', text: expect.stringMatching(/\S/u) }] },
    ]);
  });

  it('sends arguments that were no object as none', () => {
    const [, assistant] = toAnthropicMessages([
      message('assistant', call('c1', { args: {}, argsText: '{"li' }), call('c2', { args: [1] })),
    ]);
    expect(assistant?.content).toMatchObject([{ input: {} }, { input: {} }]);
  });

  it('sends images and documents as what they are, also within results; other files and artifacts by name', () => {
    const pdf = { type: 'file', mime: 'application/pdf', dataBase64: 'aGk=' } as const;
    const kept = { type: 'file', mime: 'application/pdf', ref: 'sha256-2' } as const;
    const [user] = toAnthropicMessages([message('user', PIXEL, pdf, kept, result('c1', text('see'), PIXEL, ARTIFACT, pdf))]);
    const image = { type: 'image', source: { media_type: 'image/png', data: 'aGk=' } };
    const document = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'aGk=' } };
    expect(user?.content).toMatchObject([
      { type: 'tool_result', content: [{ text: expect.stringMatching(/see\nfirst lines\n.*90000 bytes.*sha256-1/u) }, image, document] },
      image,
      document,
      { type: 'text', text: expect.stringContaining('sha256-2') },
    ]);
  });

  it('sends thinking of another model, or from after another prefix, to nobody', () => {
    const parts = [thinking('{"signature":"s1","model":"test-model"}'), thinking('{"redacted":"r1","model":"other"}')];
    const [, assistant] = toAnthropicMessages([
      message('assistant', ...parts, thinking('{"signature":"s2","after":"elsewhere"}'), 'Done.'),
    ]);
    expect(assistant?.content.map(({ type }) => type)).toEqual(['thinking', 'text']);
  });

  it('adds to what is written without changing it: the results of calls stay before what is said later', () => {
    const messages = [
      message('user', 'Go.'),
      message('assistant', call('c1')),
      message('tool', result('c1', text('one'))),
      message('user', 'Warned.'),
    ];
    expect(toAnthropicMessages(messages.slice(0, 3))[2]?.content).toEqual(toAnthropicMessages(messages)[2]?.content.slice(0, 1));
  });
});
