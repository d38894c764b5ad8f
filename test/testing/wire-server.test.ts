import { describe, expect, it } from 'vitest';
import { startWireServer } from '../../src/testing/wire-server.js';
import { useModels } from '../e2e/support/use-models.js';
import { ask, type BodyFields, bodyOf, chatBody, FORMATS, FULL_STEP, messagesBody, textOfStream } from './support/wire-client.js';

const start = useModels();

describe('a wire server over chat completions', () => {
  it('streams an answer that puts together to what the script says', async () => {
    const server = await start({ script: { steps: [FULL_STEP] } });
    const reply = await ask(server, 'openai-chat', chatBody({ stream: true, stream_options: { include_usage: true } }));
    expect(reply.headers.get('content-type')).toContain('text/event-stream');
    expect(reply.headers.get('x-request-id')).toBe('req_000001');
    const chunks = dataOf(reply.text);
    expect(chunks.at(-1)).toBe('[DONE]');
    const deltas = chunks.flatMap((chunk) => (typeof chunk === 'object' ? chunk.choices.map((choice) => choice.delta) : []));
    expect(deltas.map((delta) => delta.reasoning_content ?? '').join('')).toBe('Let me see.');
    expect(deltas.map((delta) => delta.content ?? '').join('')).toBe('I read the notes.');
    expect(deltas.map((delta) => delta.tool_calls?.[0]?.function.arguments ?? '').join('')).toBe('{"path":"notes.md"}');
    expect(chunks.at(-2)).toMatchObject({ choices: [], usage: { prompt_tokens: 120, prompt_tokens_details: { cached_tokens: 100 } } });
    expect(chunks.at(-3)).toMatchObject({ choices: [{ finish_reason: 'tool_calls' }] });
  });

  it('answers in one document when no stream is asked for', async () => {
    const server = await start({ script: { steps: [FULL_STEP] } });
    const reply = await ask(server, 'openai-chat', chatBody({}));
    expect(JSON.parse(reply.text)).toMatchObject({
      object: 'chat.completion',
      choices: [
        {
          message: {
            content: 'I read the notes.',
            tool_calls: [{ type: 'function', function: { name: 'read_file', arguments: '{"path":"notes.md"}' } }],
          },
          finish_reason: 'tool_calls',
        },
      ],
      usage: { total_tokens: 150 },
    });
  });
});

describe('a wire server over messages', () => {
  it('streams an answer in blocks that open and close in order', async () => {
    const server = await start({ script: { steps: [FULL_STEP] } });
    const reply = await ask(server, 'anthropic', messagesBody({ stream: true }));
    expect(reply.headers.get('request-id')).toBe('req_000001');
    const names = [...reply.text.matchAll(/^event: (.+)$/gmu)].map((match) => match[1]);
    const order = names.filter((name, index) => name !== 'content_block_delta' || names[index - 1] !== name);
    const block = ['content_block_start', 'content_block_delta', 'content_block_stop'];
    expect(order).toEqual(['message_start', 'ping', ...block, ...block, ...block, 'message_delta', 'message_stop']);
    expect(textOfStream(reply.text)).toBe('I read the notes.');
    expect(reply.text).toContain('"input_tokens":20,"cache_creation_input_tokens":0,"cache_read_input_tokens":100');
    expect(reply.text).toContain('"stop_reason":"tool_use"');
  });

  it('answers in one document when no stream is asked for', async () => {
    const server = await start({ script: { steps: [FULL_STEP] } });
    const reply = await ask(server, 'anthropic', messagesBody({}));
    expect(JSON.parse(reply.text)).toMatchObject({
      type: 'message',
      stop_reason: 'tool_use',
      content: [
        { type: 'thinking', thinking: 'Let me see.', signature: expect.any(String) },
        { type: 'text', text: 'I read the notes.' },
        { type: 'tool_use', name: 'read_file', input: { path: 'notes.md' } },
      ],
      usage: { input_tokens: 20, output_tokens: 30 },
    });
  });

  it('takes a thinking block back only as it was signed', async () => {
    const server = await start({ script: { steps: [{ thinking: 'Let me see.', text: 'So.' }, { text: 'Good.' }] } });
    const first: { content: { thinking?: string }[] } = JSON.parse((await ask(server, 'anthropic', messagesBody({}))).text);
    const user = { role: 'user', content: 'Go on.' };
    const again = messagesBody({ messages: [user, { role: 'assistant', content: first.content }, user] });
    expect((await ask(server, 'anthropic', again)).status).toBe(200);
    const forged = first.content.map((block) => (block.thinking ? { ...block, thinking: 'Other.' } : block));
    const reply = await ask(server, 'anthropic', messagesBody({ messages: [user, { role: 'assistant', content: forged }, user] }));
    expect(reply).toMatchObject({ status: 400, text: expect.stringContaining('messages.1.content.0: Invalid `signature`') });
  });
});

describe.each(FORMATS)('a wire server (%s)', (format) => {
  const body = (fields: BodyFields) => bodyOf(format, fields);

  it('plays the step of the request, whatever was asked before', async () => {
    const server = await start({ script: { steps: [{ text: 'first' }, { text: '{{turn}}: {{lastUser}}' }], final: { text: 'the end' } } });
    const messages = [
      { role: 'user', content: 'Sort.' },
      { role: 'assistant', content: 'first' },
      { role: 'user', content: 'And now?' },
    ];
    const text = async (fields: object) => textOfStream((await ask(server, format, body({ ...fields, stream: true }))).text);
    expect(await text({ messages })).toBe('2: And now?');
    expect(await text({})).toBe('first');
    expect(await text({ tool_choice: format === 'anthropic' ? { type: 'none' } : 'none' })).toBe('the end');
    expect(server.requests.map((request) => request.step)).toEqual([1, 0, 'final']);
    expect(server.requestsOf(1)).toBe(1);
  });

  it('records requests without their key', async () => {
    const server = await start({ script: { steps: [{ text: 'x' }] } });
    await ask(server, format, body({}));
    expect(server.requests).toMatchObject([{ format, body: body({}), outcome: 'answered', step: 0 }]);
    expect(server.requests[0]?.headers['content-type']).toBe('application/json');
    expect(JSON.stringify(server.requests)).not.toContain(server.apiKey);
  });

  it('keeps no bodies when told so', async () => {
    const server = await start({ script: { steps: [{ text: 'x' }] }, keepBodies: false });
    await ask(server, format, body({}));
    expect(server.requests).toMatchObject([{ body: undefined, outcome: 'answered' }]);
  });

  it('refuses another key, and none', async () => {
    const server = await start({ script: { steps: [{ text: 'x' }] }, apiKey: 'right' });
    const wrong = { status: 401, text: expect.stringMatching(/invalid_api_key|authentication_error/u) };
    expect(await ask(server, format, body({}), 'a-wrong-key')).toMatchObject(wrong);
    expect(await ask(server, format, body({}), '')).toMatchObject(wrong);
    expect((await ask(server, format, body({}), 'right')).status).toBe(200);
    expect(server.requests.map((request) => request.outcome)).toEqual(['refused', 'refused', 'answered']);
  });

  it('asks a handler for each step, and says when that fails', async () => {
    const server = await start({
      handler: (request) => {
        if (request.lastUser === 'Fail.') throw new Error('no such case');
        return { text: `heard ${request.lastUser}` };
      },
    });
    const reply = await ask(server, format, body({ stream: true }));
    expect(textOfStream(reply.text)).toBe('heard Sort the notes.');
    const failed = await ask(server, format, body({ messages: [{ role: 'user', content: 'Fail.' }] }));
    expect(failed).toMatchObject({ status: 400, text: expect.stringContaining('no such case') });
  });

  it('is not there for a format it was not started for', async () => {
    const others = FORMATS.filter((other) => other !== format);
    const server = await start({ script: { steps: [{ text: 'x' }] }, formats: others });
    for (const other of others) expect((await ask(server, other, bodyOf(other, {}))).status).toBe(200);
    expect((await ask(server, format, body({}))).status).toBe(404);
  });

  it('refuses a body that is no JSON', async () => {
    const server = await start({ script: { steps: [{ text: 'x' }] } });
    expect(await ask(server, format, '{"model":')).toMatchObject({ status: 400, text: expect.stringContaining('JSON') });
  });
});

it('a wire server with a wrong script does not start', async () => {
  await expect(startWireServer({ script: { steps: [] } })).rejects.toMatchObject({ code: 'BAD_SCRIPT' });
});

it('a closed wire server frees its port and cuts what is open', async () => {
  const server = await startWireServer({ script: { steps: [{ text: 'x', fault: { stall: true, afterEvent: 'start' } }] } });
  const open = Promise.allSettled([ask(server, 'anthropic', messagesBody({ stream: true }))]);
  await expect.poll(() => server.requests.length).toBe(1);
  await server.close();
  expect(await open).toMatchObject([{ status: 'rejected', reason: expect.any(TypeError) }]);
  await expect(fetch(server.url)).rejects.toThrow('fetch failed');
});

interface ChatDelta {
  content?: string;
  reasoning_content?: string;
  tool_calls?: { function: { arguments: string } }[];
}

function dataOf(stream: string): ('[DONE]' | { choices: { delta: ChatDelta }[] })[] {
  return [...stream.matchAll(/^data: (.+)$/gmu)].map((match) => (match[1] === '[DONE]' ? '[DONE]' : JSON.parse(match[1] ?? '')));
}
