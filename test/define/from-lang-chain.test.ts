import { ToolMessage } from '@langchain/core/messages';
import { DynamicTool, tool as langChainTool, StructuredTool } from '@langchain/core/tools';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { toolArguments } from '../../src/activities/call-tool/parse-tool-arguments.js';
import { toolResultParts } from '../../src/activities/call-tool/tool-result-parts.js';
import { isToolDefinition, parametersSchema } from '../../src/define/define-tool.js';
import { fromLangChain, type LangChainTool } from '../../src/define/from-lang-chain.js';
import { toolContext } from '../../src/testing/kit/tool-context.js';
import { latch } from '../support/use-workers.js';

const PNG = 'iVBORw0KGgo=';

const weather = langChainTool(({ city, days }) => `${city}: sunny for ${days}`, {
  name: 'weather',
  description: 'The weather.',
  schema: z.object({ city: z.string(), days: z.number().default(3) }),
});

describe('fromLangChain', () => {
  it('a tool becomes one of ours, with effect once unless the author knows better', () => {
    const tool = fromLangChain(weather);
    expect(isToolDefinition(tool)).toBe(true);
    expect(tool).toMatchObject({ name: 'weather', description: 'The weather.', effect: 'once' });
    expect(parametersSchema(tool)).toMatchObject({ type: 'object', required: ['city'], properties: { city: { type: 'string' } } });
    expect(fromLangChain(weather, { effect: 'read', name: 'sky' })).toMatchObject({ name: 'sky', effect: 'read' });
  });

  it('a call has the defaults of the schema, and returns the text of the tool', async () => {
    expect(await run(weather, { city: 'Rome' })).toBe('Rome: sunny for 3');
  });

  it('arguments that do not match are refused before the tool sees them', async () => {
    await expect(run(weather, { city: 7 })).rejects.toThrow('city: Instance type "number" is invalid');
  });

  it('a tool with a JSON Schema, and one that is a class', async () => {
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const;
    const doubled = langChainTool((input) => String((input as { n: number }).n * 2), { name: 'double', description: 'd', schema });
    expect(parametersSchema(fromLangChain(doubled))).toEqual(schema);
    expect(await run(doubled, { n: 4 })).toBe('8');
    expect(await run(new Reversed(), { text: 'abc' })).toBe('cba');
  });

  it('a schema that transforms its input is applied once, by LangChain', async () => {
    const length = langChainTool((size: unknown) => String(size), {
      name: 'size',
      description: 'd',
      schema: z.object({ text: z.string() }).transform(({ text }) => text.length),
    } as never) as LangChainTool;
    expect(await run(length, { text: 'abcd' })).toBe('4');
  });

  it('D5: a DynamicTool, whose schema is of zod 3, needs the parameters', async () => {
    const shout = new DynamicTool({ name: 'shout', description: 'd', func: async (text) => text.toUpperCase() });
    expect(() => fromLangChain(shout)).toThrow('TOOL_PARAMETERS: tool "shout" has a schema of zod 3. Use zod 4, or the option parameters.');
    const parameters = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] };
    expect(await fromLangChain(shout, { parameters }).execute({ input: 'quiet' }, toolContext())).toBe('QUIET');
  });

  it('content blocks become texts and files; the artifact stays out', async () => {
    const blocks = [
      { type: 'text', text: 'a picture' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
      { type: 'image', source_type: 'base64', mime_type: 'image/png', data: PNG },
      { type: 'image', mimeType: 'image/png', data: PNG },
      { type: 'image_url', image_url: 'https://example.com/x.png' },
      { type: 'video_id', id: 'v' },
    ];
    const picture = langChainTool(() => [blocks, { secret: 1 }], {
      name: 'picture',
      description: 'd',
      schema: z.object({}),
      responseFormat: 'content_and_artifact',
    });
    const file = { type: 'file', mime: 'image/png', dataBase64: PNG };
    expect(toolResultParts(await run(picture, {}))).toEqual([
      { type: 'text', text: 'a picture' },
      file,
      file,
      file,
      { type: 'text', text: '[file: https://example.com/x.png]' },
      { type: 'text', text: '[unsupported content: video_id]' },
    ]);
  });

  it('JSON that the tool returns is JSON text, and a streaming tool gives its last value', async () => {
    const json = langChainTool(() => ({ a: 1 }), { name: 'json', description: 'd', schema: z.object({}) });
    expect(await run(json, {})).toBe('{"a":1}');
    const stream = langChainTool(
      async function* () {
        yield 'half';
        return 'whole';
      },
      { name: 'stream', description: 'd', schema: z.object({}) },
    );
    expect(await run(stream as LangChainTool, {})).toBe('whole');
  });

  it('what the tool throws is thrown, and a message with status error fails the call', async () => {
    const failing = langChainTool(() => Promise.reject(new Error('down')), { name: 'failing', description: 'd', schema: z.object({}) });
    await expect(run(failing, {})).rejects.toThrow('down');
    const refused = langChainTool(() => new ToolMessage({ content: 'no such city', status: 'error', tool_call_id: 'call' }), {
      name: 'refused',
      description: 'd',
      schema: z.object({}),
    });
    await expect(run(refused, {})).rejects.toThrow('no such city');
  });

  it('the signal of the call stops it', async () => {
    const started = latch();
    let seen: AbortSignal | undefined;
    const waiting = langChainTool(
      async (_input: object, config: { readonly signal?: AbortSignal }) => {
        seen = config.signal;
        started.open();
        return await new Promise<string>(() => undefined);
      },
      { name: 'waiting', description: 'd', schema: z.object({}) },
    );
    const context = toolContext();
    const call = fromLangChain(waiting).execute({}, context);
    await started.opened;
    context.abort(new Error('stopped'));
    await expect(call).rejects.toThrow('stopped');
    expect(seen?.aborted).toBe(true);
  });
});

class Reversed extends StructuredTool {
  override name = 'reversed';
  override description = 'd';
  override schema = z.object({ text: z.string() });

  protected override _call({ text }: { text: string }): Promise<string> {
    return Promise.resolve(text.split('').toReversed().join(''));
  }
}

async function run(tool: LangChainTool, args: object) {
  const wrapped = fromLangChain(tool);
  const parsed = toolArguments({ tool: tool.name, args }, wrapped);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return await wrapped.execute(parsed.args as never, toolContext());
}
