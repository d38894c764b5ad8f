import * as v7 from 'ai';
import * as v6 from 'ai6';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { toolArguments } from '../../src/activities/call-tool/parse-tool-arguments.js';
import { toolResultParts } from '../../src/activities/call-tool/tool-result-parts.js';
import { isToolDefinition, parametersSchema } from '../../src/define/define-tool.js';
import { type AiSdkTool, type FromAiSdkOptions, fromAiSdk } from '../../src/define/from-ai-sdk.js';
import { toolContext } from '../../src/testing/kit/tool-context.js';
import { latch, untilAborted } from '../support/use-workers.js';

const PNG = 'iVBORw0KGgo=';
const INPUT = z.object({ city: z.string(), days: z.number().default(1) });

describe.each([
  ['6', v6],
  // the types of both differ in what these tests do not use
  ['7', v7 as unknown as typeof v6],
] as const)('fromAiSdk with tools of the AI SDK %s', (_, sdk) => {
  const weather = sdk.tool({
    description: 'The weather.',
    inputSchema: INPUT,
    execute: ({ city, days }, { toolCallId }) => ({ city, days, toolCallId }),
  });

  it('a tool becomes one of ours: name, description, schema, and effect once unless the author knows better', () => {
    const tool = fromAiSdk('weather', weather);
    expect(isToolDefinition(tool)).toBe(true);
    expect(tool).toMatchObject({ name: 'weather', description: 'The weather.', effect: 'once', approval: 'never' });
    expect(parametersSchema(tool)).toMatchObject({ type: 'object', required: ['city'], properties: { city: { type: 'string' } } });
    expect(fromAiSdk('weather', weather, { effect: 'read', pure: true, description: 'Other.' })).toMatchObject({
      effect: 'read',
      pure: true,
      description: 'Other.',
    });
  });

  it('a call gets its parsed arguments and its id, and returns what the tool returned', async () => {
    expect(await run(weather, { city: 'Rome' })).toEqual({ city: 'Rome', days: 1, toolCallId: 'call' });
  });

  it('a schema of jsonSchema() with its own check refuses arguments, and may change them', async () => {
    const schema = sdk.jsonSchema<{ n: number }>(
      { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
      {
        validate: (value) => {
          const { n } = z.object({ n: z.number() }).parse(value);
          return n > 5 ? { success: false, error: new Error('n is too large') } : { success: true, value: { n: n * 10 } };
        },
      },
    );
    const tool = sdk.tool({ description: 'd', inputSchema: schema, execute: ({ n }) => n });
    expect(parametersSchema(fromAiSdk('x', tool))).toEqual({ type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] });
    expect(await run(tool, { n: 2 })).toBe(20);
    await expect(run(tool, { n: 6 })).rejects.toThrow('n is too large');
    await expect(run(tool, { n: 'two' })).rejects.toThrow('n: Instance type "string" is invalid');
  });

  it('a dynamic tool, and a schema that is made when it is asked for', async () => {
    const tool = sdk.dynamicTool({
      description: 'd',
      inputSchema: sdk.zodSchema(z.object({ a: z.string() })),
      execute: (input) => Promise.resolve(input),
    });
    expect(await run(tool, { a: 'x' })).toEqual({ a: 'x' });
  });

  it('a streaming tool: each value is progress, the last one the result', async () => {
    const tool = sdk.tool({
      description: 'd',
      inputSchema: z.object({}),
      async *execute() {
        yield 'half';
        yield { done: true };
      },
    });
    const context = toolContext();
    expect(await fromAiSdk('x', tool).execute({}, context)).toEqual({ done: true });
    expect(context.heartbeats).toEqual(['half', '{"done":true}']);
  });

  it('a streaming tool that ignores the abort is stopped at its next value, and closed', async () => {
    const context = toolContext();
    let isClosed = false;
    const tool = sdk.tool({
      description: 'd',
      inputSchema: z.object({}),
      async *execute() {
        try {
          for (let n = 0; ; n += 1) {
            if (n === 2) context.abort(new Error('cancelled'));
            yield n;
          }
        } finally {
          isClosed = true;
        }
      },
    });
    await expect(fromAiSdk('x', tool).execute({}, context)).rejects.toThrow('cancelled');
    expect(isClosed).toBe(true);
  });

  it('the signal of the call reaches the tool', async () => {
    const started = latch();
    const tool = sdk.tool({
      description: 'd',
      inputSchema: z.object({}),
      execute: (_input, { abortSignal = new AbortController().signal }): Promise<string> => {
        started.open();
        return untilAborted(abortSignal);
      },
    });
    const context = toolContext();
    const call = fromAiSdk('x', tool).execute({}, context);
    await started.opened;
    context.abort(new Error('stopped'));
    await expect(call).rejects.toThrow('stopped');
  });

  it('toModelOutput decides what the model sees: texts, files, and failures', async () => {
    const base = { description: 'd', inputSchema: z.object({}), execute: () => 'raw' };
    const output = (given: object) => sdk.tool({ ...base, toModelOutput: () => given as never });
    expect(await run(output({ type: 'text', value: 'shown' }), {})).toBe('shown');
    expect(await run(output({ type: 'json', value: { a: 1 } }), {})).toEqual({ a: 1 });
    const content = [
      { type: 'text', text: 'a picture' },
      { type: 'image-data', data: PNG, mediaType: 'image/png' },
      { type: 'media', data: PNG, mediaType: 'image/png' },
      { type: 'file', data: { type: 'data', data: PNG }, mediaType: 'image/png' },
      { type: 'image-url', url: 'https://example.com/x.png' },
      { type: 'image-url', url: `data:image/png;base64,${PNG}` },
      { type: 'file-id', fileId: 'f1' },
    ];
    const file = { type: 'file', mime: 'image/png', dataBase64: PNG };
    const parts = [
      { type: 'text', text: 'a picture' },
      file,
      file,
      file,
      { type: 'text', text: '[file: https://example.com/x.png]' },
      file,
      { type: 'text', text: '[unsupported content: file-id]' },
    ];
    expect(toolResultParts(await run(output({ type: 'content', value: content }), {}))).toEqual(parts);
    await expect(run(output({ type: 'error-text', value: 'no such city' }), {})).rejects.toThrow('no such city');
    await expect(run(output({ type: 'error-json', value: { code: 7 } }), {})).rejects.toThrow('{"code":7}');
    await expect(run(output({ type: 'execution-denied', reason: 'not today' }), {})).rejects.toThrow('not today');
  });

  it('what the tool throws is thrown, and a result of undefined is null', async () => {
    const failing = sdk.tool({
      description: 'd',
      inputSchema: z.object({}),
      execute: (): Promise<string> => Promise.reject(new Error('down')),
    });
    await expect(run(failing, {})).rejects.toThrow('down');
    const silent = sdk.tool({ description: 'd', inputSchema: z.object({}), execute: () => undefined });
    expect(await run(silent, {})).toBeNull();
  });

  it('needsApproval is kept: true, a function of the arguments, and an asynchronous one, which always asks', () => {
    const base = { description: 'd', inputSchema: z.object({ n: z.number() }), execute: () => 1 };
    const approval = (needsApproval: unknown) => fromAiSdk('x', sdk.tool({ ...base, needsApproval: needsApproval as true })).approval;
    expect(approval(true)).toBe('always');
    const large = approval(({ n }: { n: number }) => n > 5);
    expect(large).toBeTypeOf('function');
    if (typeof large !== 'function') return;
    expect([large({ n: 6 }, { runId: 'r' }), large({ n: 5 }, { runId: 'r' })]).toEqual([true, false]);
    const later = approval(async () => false);
    expect(typeof later === 'function' && later({ n: 1 }, { runId: 'r' })).toBe(true);
    expect(fromAiSdk('x', sdk.tool({ ...base, needsApproval: true }), { approval: 'never' }).approval).toBe('never');
  });
});

describe('fromAiSdk', () => {
  it('the types of both versions are accepted', () => {
    const tools = [
      fromAiSdk('six', v6.tool({ description: 'd', inputSchema: INPUT, execute: ({ days }) => days })),
      fromAiSdk('seven', v7.tool({ description: () => 'made late', inputSchema: INPUT, execute: ({ days }) => days })),
    ];
    expect(tools.map(({ description }) => description)).toEqual(['d', 'made late']);
  });

  it('version 5 of the SDK gives toModelOutput the bare output', async () => {
    const tool = {
      inputSchema: z.object({}),
      execute: () => 21,
      toModelOutput: (output: number) => ({ type: 'text', value: `${output * 2}` }),
    };
    expect(await run(tool, {}, { version: 5 })).toBe('42');
  });

  it('the context reaches the tool by both names', async () => {
    const tool = { inputSchema: z.object({}), execute: (_input: unknown, options: object) => options };
    const seen = await run(tool, {}, { context: { user: 7 } });
    expect(seen).toMatchObject({ context: { user: 7 }, experimental_context: { user: 7 }, messages: [] });
  });

  it.each([
    ['without execute', { inputSchema: z.object({}) }, 'TOOL_EXECUTE: tool "x" has no execute that a worker can call.'],
    ['of version 4', { parameters: z.object({}), execute: () => 1 } as never, 'TOOL_PARAMETERS: tool "x" has an inputSchema that'],
    ['with a name that no model accepts', undefined, 'TOOL_NAME'],
  ])('D5: a tool %s is refused with the reason', (_, tool: AiSdkTool | undefined, problem) => {
    const wrap = () => (tool ? fromAiSdk('x', tool) : fromAiSdk('two words', { inputSchema: z.object({}), execute: () => 1 }));
    expect(wrap).toThrow(problem);
  });
});

/** A call as a run makes it: arguments are checked with the tool's own schema first. */
async function run(tool: AiSdkTool, args: object, options?: FromAiSdkOptions) {
  const wrapped = fromAiSdk('x', tool, options);
  const parsed = toolArguments({ tool: 'x', args }, wrapped);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return await wrapped.execute(parsed.args as never, toolContext());
}
