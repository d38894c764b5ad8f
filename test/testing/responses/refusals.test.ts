import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWireServer, type WireServer } from '../../../src/testing/wire-server.js';
import { ask, responsesBody } from '../support/wire-client.js';

let server: WireServer;
beforeAll(async () => {
  server = await startWireServer({ script: { steps: [{ text: 'fine' }], loop: true } });
});
afterAll(() => server.close());

const USER = { role: 'user', content: 'Sort the notes.' };
const TOOL = { type: 'function', name: 'read_file', parameters: { type: 'object', properties: {} } };
const BLOCKS = [
  { type: 'input_text', text: 'See:' },
  { type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'auto' },
  { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' },
];

describe('responses', () => {
  it.each([
    ['a text in place of items', { input: 'Sort the notes.' }],
    ['outputs in another order than their calls', { input: [USER, functionCall('a'), functionCall('b'), output('b'), output('a')] }],
    ['a steer between call and output', { input: [USER, functionCall('a'), USER, output('a')] }],
    ['two user messages in a row', { input: [USER, USER] }],
    ['an answer without its id', { input: [USER, { role: 'assistant', content: [{ type: 'output_text', text: 'x' }] }, USER] }],
    ['pictures and documents, also in outputs', { input: [{ role: 'user', content: BLOCKS }, functionCall('a'), output('a', BLOCKS)] }],
    ['no tools', { tools: undefined }],
    ['every word about thinking', { reasoning: { effort: 'minimal', summary: 'auto' } }],
  ])('take %s', async (_, fields) => {
    expect(await ask(server, 'openai-responses', responsesBody(fields))).toMatchObject({ status: 200 });
  });

  it.each([
    ['no model', { model: undefined }, "Missing required parameter: 'model'."],
    ['no input', { input: undefined }, 'One of "input" or "previous_response_id"'],
    ['an empty input', { input: [] }, 'One of "input" or "previous_response_id"'],
    ['an answer that nothing kept', { previous_response_id: 'resp_1' }, "Previous response with id 'resp_1' not found."],
    [
      'an unknown role',
      { input: [{ role: 'robot', content: 'x' }] },
      "Invalid value: 'robot'. Supported values are: 'assistant', 'system'",
    ],
    ['a role of chat completions', { input: [{ role: 'tool', content: 'x' }] }, "Invalid value: 'tool'. Supported values are: 'assistant'"],
    ['an unknown item', { input: [{ type: 'sound' }] }, "Invalid value: 'sound'. Supported values are: 'message', 'reasoning'"],
    ['an unknown parameter', { max_tokens: 5 }, "Unknown parameter: 'max_tokens'."],
    ['an unknown field of an item', { input: [{ ...USER, name: 'u1' }] }, "Unknown parameter: 'input[0].name'."],
    [
      'a block of chat completions',
      { input: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }] },
      "Invalid value: 'text'. Supported values are: 'input_text'",
    ],
    [
      'what a user says as said by the model',
      { input: [{ role: 'assistant', content: [{ type: 'input_text', text: 'x' }] }] },
      "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
    ],
    ['an output without its call', { input: [USER, output('a')] }, 'No tool call found for function call output with call_id a.'],
    ['an output before its call', { input: [USER, output('a'), functionCall('a')] }, 'No tool call found for function call output'],
    [
      'a second output of a call',
      { input: [USER, functionCall('a'), output('a'), output('a')] },
      'No tool call found for function call output',
    ],
    [
      'a call without output',
      { input: [USER, functionCall('a'), functionCall('b'), output('a')] },
      'No tool output found for function call b.',
    ],
    ['two calls of one id', { input: [USER, functionCall('a'), output('a'), functionCall('a'), output('a')] }, 'Duplicate function call'],
    ['a long call id', { input: [USER, functionCall('a'.repeat(65)), output('a'.repeat(65))] }, 'Expected a string with maximum length 64'],
    [
      'a call under an id that is none',
      { input: [functionCall('a', { id: 'call_1' }), output('a')] },
      "Expected an ID that begins with 'fc'.",
    ],
    [
      'two items of one id',
      { input: [functionCall('a', { id: 'fc_1' }), output('a'), functionCall('b', { id: 'fc_1' }), output('b')] },
      'Duplicate item found with id fc_1.',
    ],
    [
      'arguments that are no string',
      { input: [functionCall('a', { arguments: {} }), output('a')] },
      "Invalid type for 'input[0].arguments'",
    ],
    [
      'reasoning without a summary',
      { input: [USER, { type: 'reasoning', id: 'rs_1' }] },
      "Missing required parameter: 'input[1].summary'.",
    ],
    ['an untyped tool', { tools: [{ name: 'read_file' }] }, "Missing required parameter: 'tools[0].type'."],
    [
      'a tool of chat completions',
      { tools: [{ type: 'function', function: { name: 'read_file' } }] },
      "Missing required parameter: 'tools[0].name'.",
    ],
    ['a bad tool name', { tools: [{ ...TOOL, name: 'read file' }] }, "Invalid 'tools[0].name': string does not match pattern."],
    ['parameters that are no object', { tools: [{ ...TOOL, parameters: {} }] }, "Invalid schema for function 'read_file'"],
    [
      'a strict tool that is open',
      { tools: [{ ...TOOL, strict: true }] },
      "'additionalProperties' is required to be supplied and to be false.",
    ],
    ['two tools of one name', { tools: [TOOL, TOOL] }, "Duplicate tool name: 'read_file'."],
    [
      'a tool choice without tools',
      { tools: undefined, tool_choice: 'none' },
      "Tool choices other than 'auto' must be specified with 'tools'",
    ],
    ['the choice of a tool that is not there', { tool_choice: { type: 'function', name: 'x' } }, "Tool choice 'x' not found in 'tools'"],
    [
      'a very low output limit',
      { max_output_tokens: 5 },
      "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16",
    ],
    ['an effort that is none', { reasoning: { effort: 'much' } }, "Invalid value: 'much'. Supported values are: 'none', 'minimal', 'low'"],
    ['to include what is not there', { include: ['reasoning.text'] }, "Invalid value: 'reasoning.text'. Supported values are: 'reasoning."],
    ['a long cache key', { prompt_cache_key: 'k'.repeat(65) }, "Invalid 'prompt_cache_key': string too long."],
    ['stream options without a stream', { stream_options: {} }, "The 'stream_options' parameter is only allowed"],
  ])('refuse %s', async (_, fields, message) => {
    const reply = await ask(server, 'openai-responses', responsesBody(fields));
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.text)).toEqual({
      error: expect.objectContaining({ message: expect.stringContaining(message), type: 'invalid_request_error' }),
    });
  });

  it('refuse an item that is told by its id alone', async () => {
    const reply = await ask(server, 'openai-responses', responsesBody({ input: [USER, { type: 'item_reference', id: 'msg_1' }] }));
    expect(reply).toMatchObject({ status: 404, text: expect.stringContaining("Item with id 'msg_1' not found.") });
  });
});

function functionCall(call_id: string, fields: object = {}): object {
  return { type: 'function_call', call_id, name: 'read_file', arguments: '{}', ...fields };
}

function output(call_id: string, value: unknown = 'done'): object {
  return { type: 'function_call_output', call_id, output: value };
}
