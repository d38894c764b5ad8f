import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWireServer, type WireServer } from '../../../src/testing/wire-server.js';
import { ask, completionsBody } from '../support/wire-client.js';

const SYSTEM = '<|im_start|>system\nYou help.<|im_end|>\n';
const USER = '<|im_start|>user\nSort the notes.<|im_end|>\n';
const OPEN = '<|im_start|>assistant\n';
const CALLING = `${OPEN}<tool_call>\n{"name": "read_file", "arguments": {"path": "a.md"}}\n</tool_call><|im_end|>\n`;
const RESULT = '<|im_start|>user\n<tool_response>\none\n</tool_response><|im_end|>\n';
const TOOLS = SYSTEM.replace('You help.', 'You help.\n<tools>\n{"type": "function", "function": {"name": 5}}\n</tools>');

describe('completions', () => {
  let server: WireServer;
  beforeAll(async () => {
    server = await startWireServer({
      formats: ['openai-completions'],
      script: { steps: [{ text: 'fine', toolCalls: [{ name: 'read_file', args: { path: 'a.md' } }] }], loop: true },
    });
  });
  afterAll(() => server.close());

  it.each([
    ['a question', SYSTEM + USER + OPEN],
    ['a call with its result', SYSTEM + USER + CALLING + RESULT + OPEN],
    ['the end of thinking', `${USER}${OPEN}<think>\n\n</think>\n\n`],
    ['turns of Gemma', '<start_of_turn>user\nSort.<end_of_turn>\n<start_of_turn>model\n'],
    ['plain text', 'You help.\n\nUser: Sort.\n\nAssistant:'],
  ])('take %s', async (_, prompt) => {
    expect(await ask(server, 'openai-completions', completionsBody({ prompt }))).toMatchObject({ status: 200 });
  });

  it.each([
    ['no prompt', { prompt: undefined }, "Missing required parameter: 'prompt'."],
    ['messages', { messages: [] }, "Unknown parameter: 'messages'."],
    ['tools', { tools: [] }, "Unknown parameter: 'tools'."],
    ['five stops', { stop: ['a', 'b', 'c', 'd', 'e'] }, "Invalid type for 'stop'"],
    ['stream options without a stream', { stream_options: { include_usage: true } }, "The 'stream_options' parameter is only allowed"],
    ['a prompt that ends in a closed turn', { prompt: SYSTEM + USER }, 'does not go on as its template does'],
    ['a turn that is not closed', { prompt: USER.replace('<|im_end|>', '') + OPEN }, 'After turn 0 the prompt does not go on'],
    [
      'a turn within a turn',
      { prompt: `<|im_start|>user\nx<|im_start|>system\ny<|im_end|>\n${OPEN}` },
      'A mark of a turn stands within turn 0.',
    ],
    ['a late system message', { prompt: USER + SYSTEM + OPEN }, 'System message must be at the beginning.'],
    ['nothing but a system message', { prompt: SYSTEM + OPEN }, 'at least one message that is not a system message'],
    ['a call without its result', { prompt: USER + CALLING + USER + OPEN }, 'Turn 1 holds 1 calls, and the next one 0 results.'],
    [
      'a result too many',
      { prompt: USER + CALLING + RESULT.replace('<tool_response>', '<tool_response>\n0\n</tool_response>\n<tool_response>') + OPEN },
      'the next one 2 results',
    ],
    ['a call that is no JSON', { prompt: USER + CALLING.replace('"a.md"}', '"a.md"') + RESULT + OPEN }, 'What should be JSON is none'],
    ['a tool that is none', { prompt: TOOLS + USER + OPEN }, 'A tool is told in words that are no tool.'],
    ["Gemma's turns without their order", { prompt: `<start_of_turn>model\nx<end_of_turn>\n<start_of_turn>model\n` }, 'must alternate'],
    ['plain text that ends with the user', { prompt: 'User: Sort.' }, 'does not end with the turn of the assistant'],
  ])('refuse %s', async (_, fields, message) => {
    const reply = await ask(server, 'openai-completions', completionsBody(fields));
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.text)).toEqual({
      error: expect.objectContaining({ message: expect.stringContaining(message), type: 'invalid_request_error' }),
    });
  });

  it('answer as one document, in the words of the template of the prompt', async () => {
    const { text } = await ask(server, 'openai-completions', completionsBody({}));
    expect(JSON.parse(text)).toMatchObject({
      object: 'text_completion',
      choices: [{ text: 'fine\n<tool_call>\n{"name": "read_file", "arguments": {"path":"a.md"}}\n</tool_call>', finish_reason: 'stop' }],
    });
  });
});
