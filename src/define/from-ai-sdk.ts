import type { z } from 'zod';
import { defineTool, type ToolContext, type ToolDefinition, type ToolReturn, type WrapOptions } from './define-tool.js';
import type { JsonArguments, JsonSchema } from './tool/json-arguments.js';
import { aiSdkOutput } from './wrap/ai-sdk-output.js';
import { fieldsOf, functionOf, textOfValue } from './wrap/foreign-content.js';

/** The part of a tool of the Vercel AI SDK that `fromAiSdk` uses: version 5, 6 and 7. */
export interface AiSdkTool {
  /** Description, as the model sees it: a text, or in version 7 a function of the context. */
  readonly description?: unknown;
  /** A schema of zod 4, or one that `jsonSchema`, `zodSchema` or `valibotSchema` of the SDK made. */
  readonly inputSchema: unknown;
  /** Runs the call. An async iterable yields preliminary results, and its last value is the result. */
  readonly execute?: unknown;
  /** True, or a function of the arguments: the call waits for approval. */
  readonly needsApproval?: unknown;
  /** Converts the result for the model. */
  readonly toModelOutput?: unknown;
}

/** Options of `fromAiSdk`. */
export type FromAiSdkOptions = WrapOptions & {
  /** Major version of the AI SDK, which decides about the argument of `toModelOutput`: the bare output in version 5. @default 6 */
  readonly version?: 5 | 6 | 7;
  /** Passed to the tool as `experimental_context`, and as `context`. @default undefined */
  readonly context?: unknown;
};

/**
 * Wraps a tool of the Vercel AI SDK: `fromAiSdk('weather', weatherTool, { effect: 'read' })`. Perdure runs it as its own tools, as an
 * activity with the effect that you give. It gets no messages. `needsApproval` is kept unless `approval` is given; a function of it that is
 * asynchronous always asks. Throws a TypeError `TOOL_EXECUTE` for a tool without `execute`, and as `defineTool` does.
 */
export function fromAiSdk(name: string, tool: AiSdkTool, options: FromAiSdkOptions = {}): ToolDefinition<JsonArguments> {
  const { version = 6, context: given, description, ...own } = options;
  const run = functionOf(tool.execute);
  const { parameters, parse } = inputOf(name, tool.inputSchema);
  if (!run)
    throw new TypeError(
      `TOOL_EXECUTE: tool "${name}" has no execute that a worker can call. Tools of a provider or a client cannot be wrapped.`,
    );
  const convert = functionOf(tool.toModelOutput);
  const settings = {
    name,
    description: description ?? descriptionOf(tool.description, given),
    approval: approvalOf(tool.needsApproval, given),
    ...own,
    execute: async (args: JsonArguments, context: ToolContext): Promise<ToolReturn> => {
      const input = await parse(args);
      context.signal.throwIfAborted();
      const output = await lastOf(await run(input, callOptions(context.callId, given, context.signal)), context);
      if (!convert) return output ?? null;
      return aiSdkOutput(await convert(version === 5 ? output : { toolCallId: context.callId, input, output }));
    },
  };
  // the two overloads of defineTool
  return isZod(parameters) ? defineTool({ ...settings, parameters }) : defineTool({ ...settings, parameters });
}

/** The second argument of `execute` and `needsApproval`. Version 7 calls the context `context`. */
function callOptions(toolCallId: string, context: unknown, abortSignal?: AbortSignal): object {
  return { toolCallId, messages: [], abortSignal, context, experimental_context: context };
}

function descriptionOf(given: unknown, context: unknown): string {
  const text = functionOf(given)?.({ context }) ?? given;
  return typeof text === 'string' ? text : '';
}

/** Input schemas come as zod, as the SDK's own object, or as a function that makes one of them. */
interface Input {
  readonly parameters: z.ZodType<JsonArguments> | JsonSchema;
  /** The SDK's own check, which may change the arguments. Rejects with its problem. */
  readonly parse: (args: JsonArguments) => unknown;
}

function inputOf(name: string, given: unknown): Input {
  if (isZod(given)) return { parameters: given, parse: (args) => args };
  const lazy = functionOf(given);
  const { jsonSchema, validate, ...rest } = schemaFields(lazy ? lazy() : given);
  const check = functionOf(validate);
  const schema = jsonSchema ?? standardSchema(rest['~standard']);
  if (typeof schema !== 'object' || schema === null || 'then' in schema)
    throw new TypeError(`TOOL_PARAMETERS: tool "${name}" has an inputSchema that is not zod 4 and gives no JSON Schema.`);
  // the type is checked by defineTool
  return { parameters: schema as JsonSchema, parse: async (args) => (check ? valueOf(await check(args)) : args) };
}

/** `jsonSchema` of the SDK's schemas is a getter, which a spread of the object calls too. */
function schemaFields(given: unknown): Readonly<Record<string, unknown>> {
  const { jsonSchema, validate, '~standard': standard } = fieldsOf(given);
  return { jsonSchema, validate, '~standard': standard };
}

/** The JSON Schema that a library of schemas other than zod offers. */
function standardSchema(standard: unknown): unknown {
  const { jsonSchema } = fieldsOf(standard);
  const input = functionOf(fieldsOf(jsonSchema)['input']);
  return input?.({ target: 'draft-2020-12' });
}

function valueOf(validated: unknown): unknown {
  const { success, value, error } = fieldsOf(validated);
  if (success === true) return value;
  throw error instanceof Error ? error : new Error('the arguments do not match the schema');
}

function isZod(given: unknown): given is z.ZodType<JsonArguments> {
  return typeof given === 'object' && given !== null && '_zod' in given;
}

/** Only `false` allows a call, so a promise asks; its outcome is not used. */
function approvalOf(given: unknown, context: unknown): NonNullable<FromAiSdkOptions['approval']> {
  const ask = functionOf(given);
  if (!ask) return given === true ? 'always' : 'never';
  return (args) => {
    const answer = ask(args, callOptions('', context));
    void Promise.resolve(answer).then(undefined, () => 'its call asks, whatever the reason');
    return answer !== false;
  };
}

/** The last value of an async iterable, each shown as progress; any other value as it is. */
async function lastOf(result: unknown, context: ToolContext): Promise<unknown> {
  if (!isAsyncIterable(result)) return result;
  let last: unknown;
  for await (const value of result) {
    context.signal.throwIfAborted();
    last = value;
    context.heartbeat(textOfValue(value));
  }
  return last;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
