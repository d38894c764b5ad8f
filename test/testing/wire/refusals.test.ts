import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWireServer, type WireServer } from '../../../src/testing/wire-server.js';
import { ask, chatBody, messagesBody } from '../support/wire-client.js';

let server: WireServer;
beforeAll(async () => {
  server = await startWireServer({ script: { steps: [{ text: 'fine' }], loop: true } });
});
afterAll(() => server.close());

const MARKED = { type: 'text', text: 'x', cache_control: { type: 'ephemeral' } };
const USER = { role: 'user', content: 'Sort the notes.' };

describe('chat completions', () => {
  it.each([
    ['results in another order than their calls', { messages: [USER, calling('a', 'b'), result('b'), result('a')] }],
    ['a steer after the results', { messages: [USER, calling('a'), result('a'), USER] }],
    ['two user messages in a row', { messages: [USER, USER] }],
    ['no tools', { tools: undefined }],
  ])('take %s', async (_, fields) => {
    expect(await ask(server, 'openai-chat', chatBody(fields))).toMatchObject({ status: 200 });
  });

  it.each([
    ['no messages', { messages: undefined }, "Missing required parameter: 'messages'."],
    ['empty messages', { messages: [] }, "Invalid 'messages': empty array."],
    [
      'an unknown role',
      { messages: [{ role: 'robot', content: 'x' }] },
      "Invalid value: 'robot'. Supported values are: 'system', 'assistant'",
    ],
    ['an unknown parameter', { max_token: 5 }, "Unknown parameter: 'max_token'."],
    ['an unknown field of a message', { messages: [{ ...USER, id: 'u1' }] }, "Unknown parameter: 'messages[0].id'."],
    ['a result without a call', { messages: [USER, result('a')] }, "messages with role 'tool' must be a response to a preceeding message"],
    [
      'a result of an earlier call',
      { messages: [USER, calling('a'), result('a'), USER, result('a')] },
      'must be a response to a preceeding',
    ],
    ['a second result of a call', { messages: [USER, calling('a'), result('a'), result('a')] }, 'must be a response to a preceeding'],
    ['a call without result', { messages: [USER, calling('a', 'b'), result('a'), USER] }, 'did not have response messages: b'],
    ['a call at the end', { messages: [USER, calling('a')] }, 'did not have response messages: a'],
    ['a steer between call and result', { messages: [USER, calling('a'), USER, result('a')] }, 'did not have response messages: a'],
    ['two calls of one id', { messages: [USER, calling('a', 'a'), result('a')] }, 'Duplicate tool_call ids'],
    ['a long call id', { messages: [USER, calling('a'.repeat(41)), result('a'.repeat(41))] }, 'Expected a string with maximum length 40'],
    ['an answer with nothing in it', { messages: [USER, { role: 'assistant', content: null }] }, "Invalid value for 'content'"],
    [
      'arguments that are no string',
      { messages: [USER, { role: 'assistant', tool_calls: [{ ...call('a'), function: { name: 'x', arguments: {} } }] }] },
      'function.arguments',
    ],
    [
      'a second system message',
      { messages: [{ role: 'system', content: 'A' }, USER, { role: 'system', content: 'B' }] },
      'System message must be at the beginning.',
    ],
    ['nothing but a system message', { messages: [{ role: 'system', content: 'A' }] }, 'at least one message that is not a system message'],
    ['an untyped tool', { tools: [{ function: { name: 'read_file' } }] }, "Missing required parameter: 'tools[0].type'."],
    ['a bad tool name', tool({ name: 'read file' }), "Invalid 'tools[0].function.name': string does not match pattern."],
    ['parameters that are no object', tool({ parameters: {} }), "Invalid schema for function 'read_file'"],
    ['two tools of one name', { tools: [...tool({}).tools, ...tool({}).tools] }, "Duplicate tool name: 'read_file'."],
    ['an empty list of tools', { tools: [] }, "Invalid 'tools': empty array."],
    ['a tool choice without tools', { tools: undefined, tool_choice: 'none' }, "'tool_choice' is only allowed when 'tools' are specified."],
    ['stream options without a stream', { stream_options: { include_usage: true } }, "The 'stream_options' parameter is only allowed"],
    ['two output limits', { max_tokens: 5, max_completion_tokens: 5 }, "Setting 'max_tokens' and 'max_completion_tokens'"],
    [
      'a text as number',
      { temperature: 'hot' },
      "Invalid type for 'temperature': expected a value of type number, but got a value of type string",
    ],
  ])('refuse %s', async (_, fields, message) => {
    const reply = await ask(server, 'openai-chat', chatBody(fields));
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.text)).toEqual({
      error: expect.objectContaining({ message: expect.stringContaining(message), type: 'invalid_request_error' }),
    });
  });
});

describe('messages', () => {
  it.each([
    ['results in another order than their uses', { messages: [USER, using('a', 'b'), results('b', 'a')] }],
    ['a steer after the results', { messages: [USER, using('a'), { role: 'user', content: [resultBlock('a'), text('And?')] }] }],
    ['an id that an earlier turn had too', { messages: [USER, using('a'), results('a'), using('a'), results('a')] }],
    ['no tools', { tools: undefined }],
  ])('take %s', async (_, fields) => {
    expect(await ask(server, 'anthropic', messagesBody(fields))).toMatchObject({ status: 200 });
  });

  it.each([
    ['no max_tokens', { max_tokens: undefined }, 'max_tokens: Field required'],
    ['no messages', { messages: undefined }, 'messages: Field required'],
    ['empty messages', { messages: [] }, 'messages: at least one message is required'],
    ['a system message', { messages: [{ role: 'system', content: 'x' }] }, "messages.0.role: Input should be 'user' or 'assistant'"],
    ['an assistant first', { messages: [{ role: 'assistant', content: 'x' }] }, 'messages: first message must use the "user" role'],
    ['an unknown field', { max_token: 5 }, 'max_token: Extra inputs are not permitted'],
    [
      'an unknown field of a block',
      { messages: [{ role: 'user', content: [{ ...text('x'), id: 1 }] }] },
      'messages.0.content.0.id: Extra inputs',
    ],
    ['an unknown block', { messages: [{ role: 'user', content: [{ type: 'sound' }] }] }, 'messages.0.content.0'],
    ['two messages of one role', { messages: [USER, USER] }, 'found multiple "user" roles in a row'],
    ['an empty message', { messages: [{ role: 'user', content: [] }] }, 'messages.0: all messages must have non-empty content'],
    ['an empty text block', { messages: [{ role: 'user', content: [text('')] }] }, 'text content blocks must be non-empty'],
    [
      'a blank text block',
      { messages: [{ role: 'user', content: [text(' \n')] }] },
      'text content blocks must contain non-whitespace text',
    ],
    [
      'an answer begun with a blank end',
      { messages: [USER, { role: 'assistant', content: 'So ' }] },
      'cannot end with trailing whitespace',
    ],
    ['a use without result', { messages: [USER, using('a', 'b'), results('a')] }, 'without `tool_result` blocks immediately after: b.'],
    ['a use at the end', { messages: [USER, using('a')] }, 'without `tool_result` blocks immediately after: a.'],
    [
      'text before the results',
      { messages: [USER, using('a'), { role: 'user', content: [text('And?'), resultBlock('a')] }] },
      'immediately after: a.',
    ],
    [
      'a result without use',
      { messages: [{ role: 'user', content: [resultBlock('a')] }] },
      'messages.0.content.0: unexpected `tool_use_id`',
    ],
    [
      'a result of an earlier use',
      { messages: [USER, using('a'), results('a'), using('b'), results('b', 'a')] },
      'messages.4.content.1: unexpected',
    ],
    ['two results of one use', { messages: [USER, using('a'), results('a', 'a')] }, 'each tool_use must have a single result.'],
    ['two uses of one id', { messages: [USER, using('a', 'a'), results('a')] }, 'messages.1: `tool_use` ids must be unique'],
    ['a use by the user', { messages: [{ role: 'user', content: [use('a')] }] }, '`tool_use` blocks can only be in `assistant` messages'],
    ['a bad tool id', { messages: [USER, using('a.1'), results('a.1')] }, "String should match pattern '^[a-zA-Z0-9_-]+$'"],
    [
      'unsigned thinking',
      { messages: [USER, { role: 'assistant', content: [{ type: 'thinking', thinking: 'x' }] }] },
      'messages.1.content.0.signature: Field required',
    ],
    [
      'tool blocks without tools',
      { tools: undefined, messages: [USER, using('a'), results('a')] },
      'Requests which include `tool_use` or `tool_result` blocks must define tools',
    ],
    [
      'a tool choice without tools',
      { tools: undefined, tool_choice: { type: 'none' } },
      'tool_choice may only be specified while providing tools',
    ],
    ['an untyped tool', { tools: [{ name: 'read_file', input_schema: {} }] }, 'tools.0.input_schema.type: Field required'],
    ['a tool without schema', { tools: [{ name: 'read_file' }] }, 'tools.0.input_schema: Field required'],
    ['a bad tool name', { tools: [{ name: 'read file', input_schema: { type: 'object' } }] }, 'tools.0.name: String should match pattern'],
    [
      'five cache marks',
      { messages: [{ role: 'user', content: Array.from({ length: 5 }, () => MARKED) }] },
      'A maximum of 4 blocks with cache_control',
    ],
  ])('refuse %s', async (_, fields, message) => {
    const reply = await ask(server, 'anthropic', messagesBody(fields));
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.text)).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.stringContaining(message) },
      request_id: reply.headers.get('request-id'),
    });
  });

  it('refuse a request that does not say its version', async () => {
    const headers = { 'content-type': 'application/json', 'x-api-key': server.apiKey };
    const response = await fetch(`${server.anthropicBaseUrl}/v1/messages`, {
      method: 'POST',
      headers,
      body: JSON.stringify(messagesBody({})),
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('anthropic-version: header is required');
  });
});

function call(id: string): object {
  return { id, type: 'function', function: { name: 'read_file', arguments: '{}' } };
}

function calling(...ids: string[]): object {
  return { role: 'assistant', content: null, tool_calls: ids.map(call) };
}

function result(id: string): object {
  return { role: 'tool', tool_call_id: id, content: 'done' };
}

function tool(fields: object): { tools: object[] } {
  return { tools: [{ type: 'function', function: { name: 'read_file', ...fields } }] };
}

function use(id: string): object {
  return { type: 'tool_use', id, name: 'read_file', input: {} };
}

function using(...ids: string[]): object {
  return { role: 'assistant', content: ids.map(use) };
}

function resultBlock(id: string): object {
  return { type: 'tool_result', tool_use_id: id, content: 'done' };
}

function results(...ids: string[]): object {
  return { role: 'user', content: ids.map(resultBlock) };
}

function text(value: string): object {
  return { type: 'text', text: value };
}
