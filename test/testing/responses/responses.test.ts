import { describe, expect, it } from 'vitest';
import type { ScriptStepInput } from '../../../src/providers/scripted/script.js';
import { type WireServer } from '../../../src/testing/wire-server.js';
import { useModels } from '../../e2e/support/use-models.js';
import { ask, FULL_STEP, responsesBody, textOfStream } from '../support/wire-client.js';

const model = useModels();

describe('a wire server over responses', () => {
  it('streams an answer in items that open and close in order, each event with its number', async () => {
    const server = await start([FULL_STEP]);
    const reply = await ask(server, 'openai-responses', responsesBody({ stream: true }));
    expect(reply.headers.get('x-request-id')).toBe('req_000001');
    const events = eventsOf(reply.text);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    const names = events.map(({ type }) => type.replace('response.', ''));
    expect(names.filter((name, index) => name !== names[index - 1])).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'completed',
    ]);
    expect(textOfStream(reply.text)).toBe('I read the notes.');
    const ends = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item);
    expect(events.at(-1)?.response).toMatchObject({ status: 'completed', error: null, incomplete_details: null, output: ends });
  });

  it('answers in one document when no stream is asked for, and repeats what it was asked with', async () => {
    const server = await start([FULL_STEP]);
    const reply = await ask(server, 'openai-responses', responsesBody({ max_output_tokens: 500, reasoning: { effort: 'low' } }));
    expect(JSON.parse(reply.text)).toMatchObject({
      object: 'response',
      status: 'completed',
      instructions: 'You help.',
      max_output_tokens: 500,
      reasoning: { effort: 'low', summary: null },
      store: false,
      output: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Let me see.' }], encrypted_content: expect.any(String) },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I read the notes.' }] },
        { type: 'function_call', name: 'read_file', arguments: '{"path":"notes.md"}', call_id: expect.any(String) },
      ],
      usage: {
        input_tokens: 120,
        input_tokens_details: { cached_tokens: 100 },
        output_tokens: 30,
        output_tokens_details: { reasoning_tokens: 4 },
        total_tokens: 150,
      },
    });
  });

  it('gives reasoning encrypted only when that is asked for', async () => {
    const server = await start([FULL_STEP]);
    const { text } = await ask(server, 'openai-responses', responsesBody({ include: undefined }));
    expect(text).toContain('Let me see.');
    expect(text).not.toContain('encrypted_content');
  });

  it.each([
    [
      { text: 'So f', stop: 'length' },
      'response.incomplete',
      { incomplete_details: { reason: 'max_output_tokens' }, output: [{ status: 'incomplete' }] },
    ],
    [{ text: 'No.', stop: 'refusal' }, 'response.completed', { output: [{ content: [{ type: 'refusal', refusal: 'No.' }] }] }],
    [{ stop: 'refusal' }, 'response.incomplete', { incomplete_details: { reason: 'content_filter' }, output: [] }],
    [{ text: 'A part.', stop: 'paused' }, 'response.completed', { incomplete_details: null }],
    [{ text: 'x', usage: 'none' }, 'response.completed', { usage: null }],
  ] satisfies [ScriptStepInput, string, object][])('ends the answer %j with %s', async (step, type, response) => {
    const server = await start([step]);
    const { text } = await ask(server, 'openai-responses', responsesBody({ stream: true }));
    expect(eventsOf(text).at(-1)).toMatchObject({ type, response });
  });

  it('takes a reasoning item back only as it was encrypted, and before what it led to', async () => {
    const server = await start([FULL_STEP, { text: 'Good.' }]);
    const first: { output: Record<string, unknown>[] } = JSON.parse((await ask(server, 'openai-responses', responsesBody({}))).text);
    const [reasoning, message, call] = first.output;
    if (!reasoning || !message || !call) throw new Error('three items were expected');
    const user = { role: 'user', content: 'Go on.' };
    const output = { type: 'function_call_output', call_id: call['call_id'], output: 'done' };
    const withItems = (...items: object[]) => ask(server, 'openai-responses', responsesBody({ input: [user, ...items, user] }));
    expect(await withItems(reasoning, message, call, output)).toMatchObject({ status: 200 });
    expect(await withItems(message, call, output)).toMatchObject({ status: 200 });

    const refusals: [object[], string][] = [
      [[{ ...reasoning, encrypted_content: 'gAAAAother' }, message, call, output], 'could not be verified'],
      [[{ ...reasoning, summary: [] }, message, call, output], 'could not be verified'],
      [[{ ...reasoning, id: 'rs_other_0' }, message, call, output], 'could not be verified'],
      [[reasoning], 'was provided without its required following item'],
      [[reasoning, call, output, message], 'was provided without its required following item'],
      [[reasoning, { role: 'assistant', content: 'I read the notes.' }, call, output], 'was provided without its required following item'],
    ];
    for (const [items, problem] of refusals) {
      expect(await withItems(...items)).toMatchObject({ status: 400, text: expect.stringContaining(problem) });
    }
    expect(await withItems({ ...reasoning, encrypted_content: null }, message, call, output)).toMatchObject({
      status: 404,
      text: expect.stringContaining('Items are not persisted'),
    });
  });
});

async function start(steps: ScriptStepInput[]): Promise<WireServer> {
  return await model({ script: { steps } });
}

interface ResponsesEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly item?: object;
  readonly response?: object;
}

function eventsOf(stream: string): ResponsesEvent[] {
  return [...stream.matchAll(/^data: (.+)$/gmu)].map((match) => JSON.parse(match[1] ?? ''));
}
