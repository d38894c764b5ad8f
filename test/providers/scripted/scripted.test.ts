import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Message } from '../../../src/contracts/schemas/message.js';
import type { Usage } from '../../../src/contracts/schemas/model.js';
import type { ModelAnswer, ModelProvider, ModelRequest, StreamDelta } from '../../../src/providers/contract/provider.js';
import type { ScriptInput } from '../../../src/providers/scripted/script.js';
import { checkScript } from '../../../src/providers/scripted/script-file.js';
import { createScriptedProvider } from '../../../src/providers/scripted/scripted.js';
import { modelRequest } from '../support/wire.js';

const USER: Message = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Sort the notes' }] };
const ANSWER: Message = {
  id: 'a1',
  role: 'assistant',
  parts: [{ type: 'tool_call', callId: 'c1', name: 'read_file', args: { path: 'notes.md' } }],
};
const RESULT: Message = {
  id: 'r1',
  role: 'tool',
  parts: [{ type: 'tool_result', callId: 'c1', isError: false, parts: [{ type: 'text', text: 'pears, apples' }] }],
};

const folders: string[] = [];
afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
});

describe('a scripted model', () => {
  it('streams thinking, text and calls, and answers with all of them', async () => {
    const deltas: StreamDelta[] = [];
    const step = { thinking: 'Hm, well.', text: 'I look  first.', toolCalls: [{ name: 'read_file', args: { path: 'notes.md' } }] };
    const answer = await provider({ steps: [step] }).call(request({ onDelta: (delta) => deltas.push(delta) }));
    expect(answer.parts).toEqual([
      { type: 'thinking', text: 'Hm, well.' },
      { type: 'text', text: 'I look  first.' },
      { type: 'tool_call', callId: expect.any(String), name: 'read_file', args: { path: 'notes.md' } },
    ]);
    expect(answer.stop).toBe('tool_calls');
    const text = deltas.filter((delta) => delta.type === 'text').map((delta) => delta.text);
    expect(text).toEqual(['I', ' look', '  first.']);
    expect(deltas.at(-1)).toEqual({ type: 'tool_call', name: 'read_file' });
  });

  it('chooses the step by the assistant messages of the request, so that a new process goes on where the old one was', async () => {
    const script = { steps: [{ text: 'first' }, { text: 'second' }] };
    await expect(provider(script).call(request({ messages: [USER, ANSWER, RESULT] }))).resolves.toMatchObject({
      parts: [{ text: 'second' }],
    });
    await expect(provider(script).call(request({ messages: [USER] }))).resolves.toMatchObject({ parts: [{ text: 'first' }] });
  });

  it('fills templates in text and arguments from the request', async () => {
    const step = { text: 'Turn {{turn}}: {{lastToolResult}}', toolCalls: [{ name: 'note', args: { lines: ['{{lastUser}}', 3] } }] };
    const answer = await provider({ steps: [{}, step] }).call(request({ messages: [USER, ANSWER, RESULT] }));
    expect(answer.parts).toMatchObject([{ text: 'Turn 2: pears, apples' }, { args: { lines: ['Sort the notes', 3] } }]);
  });

  it('keeps what was sent when the arguments are no JSON object', async () => {
    const answer = await provider({ steps: [{ toolCalls: [{ name: 'note', argsText: '{"a":' }] }] }).call(request({}));
    expect(answer.parts).toMatchObject([{ type: 'tool_call', args: {}, argsText: '{"a":' }]);
  });

  it('answers a request that forbids calls with the final answer', async () => {
    const script = { steps: [{ toolCalls: [{ name: 'note' }] }], final: { text: 'That is all.' } };
    const answer = await provider(script).call(request({ toolChoice: 'none' }));
    expect(answer).toMatchObject({ parts: [{ type: 'text', text: 'That is all.' }], stop: 'end' });
  });

  it('after its last step refuses, repeats or ends as it says', async () => {
    const ended = request({ messages: [USER, ANSWER, RESULT] });
    const steps = [{ text: 'once' }];
    await expect(provider({ steps }).call(ended)).rejects.toMatchObject({
      type: 'Model.BadRequest',
      message: expect.stringMatching(/1 steps; this is request 2/u),
    });
    await expect(provider({ steps, loop: true }).call(ended)).resolves.toMatchObject({ parts: [{ text: 'once' }] });
    await expect(provider({ steps, whenEnded: { text: 'over' } }).call(ended)).resolves.toMatchObject({ parts: [{ text: 'over' }] });
  });

  it('refuses a request without what the step expects', async () => {
    await expect(ask({ lastUser: 'Sort' })).resolves.toMatchObject({ stop: 'end' });
    await expect(ask({ lastUser: 'Paint' })).rejects.toMatchObject({
      type: 'Model.BadRequest',
      message: expect.stringMatching(/"Paint"/u),
    });
    await expect(ask({ lastToolResult: 'pears' })).rejects.toMatchObject({ message: expect.stringMatching(/"pears"/u) });
    await expect(ask({ tools: ['note', 'fly'] })).rejects.toMatchObject({ message: expect.stringMatching(/these tools: fly/u) });
  });

  it('reports the usage of the step, an estimate, or none', async () => {
    await expect(usageOf({ inputTokens: 120, cacheReadTokens: 100 })).resolves.toMatchObject({ inputTokens: 120, cacheReadTokens: 100 });
    expect((await usageOf(undefined))?.inputTokens).toBeGreaterThan(0);
    await expect(usageOf('none')).resolves.toBeUndefined();
  });

  it('whose file is missing is a bad request that names the file, and plays it once it is there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'scripted-'));
    folders.push(folder);
    const file = join(folder, 'later.yaml');
    const model = createScriptedProvider({ file });
    await expect(model.call(request({}))).rejects.toMatchObject({ type: 'Model.BadRequest', message: expect.stringContaining(file) });
    await writeFile(file, 'steps: [{ text: here }]');
    await expect(model.call(request({}))).resolves.toMatchObject({ parts: [{ text: 'here' }] });
  });
});

describe('a scripted model that is aborted', () => {
  it.each([
    ['before the answer', { delayMs: 60_000 }],
    ['between two pieces', { chunkDelayMs: 60_000 }],
    ['in a stall', { fault: { stall: true } }],
  ] as const)('rejects with the reason of the signal: %s', async (_, step) => {
    const abort = new AbortController();
    const reason = new Error('cancelled by a user');
    const call = provider({ steps: [{ text: 'a b', ...step }] }).call(request({ signal: abort.signal }));
    setImmediate(() => abort.abort(reason));
    await expect(call).rejects.toBe(reason);
  });

  it('makes no call at all when that was before', async () => {
    const reason = new Error('too late');
    await expect(provider({ steps: [{ text: 'x' }] }).call(request({ signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
  });
});

describe('a fault of a scripted model', () => {
  it.each([
    [
      { status: 429, retryAfter: 2 },
      { type: 'Model.RateLimited', status: 429, retryAfterMs: 2_000 },
    ],
    [{ status: 500 }, { type: 'Model.Overloaded' }],
    [{ status: 529 }, { type: 'Model.Overloaded' }],
    [{ status: 401 }, { type: 'Model.Auth' }],
    [{ status: 429, code: 'insufficient_quota' }, { type: 'Model.Quota' }],
    [{ status: 400, code: 'context_length_exceeded' }, { type: 'Model.ContextOverflow' }],
    [{ status: 422 }, { type: 'Model.BadRequest' }],
    [{ cutAfterBytes: 3 }, { type: 'Model.StreamTruncated' }],
    [{ cutAfterEvent: 'text' }, { type: 'Model.StreamTruncated' }],
    [{ stall: true, afterEvent: 'text' }, { type: 'Model.StreamIdle' }],
    [{ streamError: 'overloaded_error' }, { type: 'Model.Overloaded' }],
    [{ html: true }, { type: 'Model.BadResponse' }],
    [{ redirect: 'http://127.0.0.1:9/' }, { type: 'Model.BadRequest' }],
  ] as const)('%j is %j, once', async (fault, failure) => {
    const model = provider({ steps: [{ text: 'some words here', fault }] });
    await expect(model.call(request({ idleMs: 5 }))).rejects.toMatchObject(failure);
    await expect(model.call(request({ idleMs: 5 }))).resolves.toMatchObject({ parts: [{ text: 'some words here' }] });
  });

  it('comes as often as it says, in each conversation anew, several in their order', async () => {
    const model = provider({ steps: [{ text: 'ok', fault: { status: 500, times: 2 }, faults: [{ status: 429 }] }] });
    const other = request({ messages: [{ ...USER, id: 'u2' }] });
    for (const status of [500, 500, 429]) await expect(model.call(request({}))).rejects.toMatchObject({ status });
    await expect(model.call(request({}))).resolves.toMatchObject({ stop: 'end' });
    await expect(model.call(other)).rejects.toMatchObject({ status: 500 });
  });

  it('lets only the pieces before it be seen', async () => {
    const seen: string[] = [];
    const onDelta = (delta: StreamDelta) => void seen.push(delta.type === 'text' ? delta.text : delta.type);
    const step = { text: 'one two', toolCalls: [{ name: 'note', args: { a: 1 } }], fault: { cutAfterEvent: 'tool_call' as const } };
    await expect(provider({ steps: [step] }).call(request({ onDelta }))).rejects.toMatchObject({ type: 'Model.StreamTruncated' });
    expect(seen).toEqual(['one', ' two', 'tool_call']);
  });
});

function ask(expected: ScriptInput['steps'][number]['expect']): Promise<ModelAnswer> {
  return provider({ steps: [{ text: 'x', expect: expected }] }).call(request({}));
}

async function usageOf(usage: ScriptInput['steps'][number]['usage']): Promise<Usage | undefined> {
  const answer = await provider({ steps: [{ text: 'x', usage }] }).call(request({}));
  return answer.usage;
}

function provider(script: ScriptInput): ModelProvider {
  return createScriptedProvider({ script: checkScript(script, 'test') });
}

function request(fields: Partial<ModelRequest>): ModelRequest {
  return modelRequest({
    messages: [USER],
    tools: [{ name: 'note', description: 'Notes a line.', schema: { type: 'object' } }],
    ...fields,
  });
}
