import { z } from 'zod';
import type { ContentPart } from '../contracts/schemas/message.js';
import { defineTool, type ToolContext, type ToolDefinition, type ToolReturn, type WrapOptions } from './define-tool.js';
import type { JsonArguments, JsonSchema } from './tool/json-arguments.js';
import { addressContent, fieldsOf, fileContent, functionOf, omittedContent, textContent, textOfValue } from './wrap/foreign-content.js';

/** The part of a tool of LangChain that `fromLangChain` uses: what `tool(…)` and subclasses of `StructuredTool` make. */
export interface LangChainTool {
  /** Name, as the model sees it. */
  readonly name: string;
  /** Description, as the model sees it. */
  readonly description: string;
  /** A schema of zod 4, or JSON Schema. */
  readonly schema: unknown;
  /** Runs a call. */
  readonly invoke: unknown;
}

/** Options of `fromLangChain`. */
export type FromLangChainOptions = WrapOptions & {
  /** Name, as the model sees it, where LangChain's has characters that no model accepts. @default the tool's own */
  readonly name?: string;
  /** Arguments, as the model sees them. Needed for a schema of zod 3, as those of `DynamicTool`. @default the tool's own schema */
  readonly parameters?: JsonSchema;
};

/**
 * Wraps a tool of LangChain: `fromLangChain(searchTool, { effect: 'read' })`. Perdure runs it as its own tools, as an activity with the
 * effect that you give. LangChain checks the arguments too, and makes its own defaults and transforms. The artifact of a result stays out
 * of the run. Throws a TypeError for a schema of zod 3 without `parameters`, and as `defineTool` does.
 */
export function fromLangChain(tool: LangChainTool, options: FromLangChainOptions = {}): ToolDefinition<JsonArguments> {
  const { name = tool.name, description = tool.description, parameters, ...own } = options;
  const invoke = functionOf(tool.invoke);
  if (!invoke) throw new TypeError(`TOOL_EXECUTE: tool "${name}" has no invoke.`);
  return defineTool({
    name,
    description,
    parameters: parameters ?? jsonSchemaOf(name, tool.schema),
    ...own,
    execute: async (args: JsonArguments, { callId, signal }: ToolContext): Promise<ToolReturn> => {
      return resultOf(await invoke.call(tool, { type: 'tool_call', id: callId, name: tool.name, args }, { signal }));
    },
  });
}

/** The arguments go to LangChain as the model sent them: its own schema may transform them. */
function jsonSchemaOf(name: string, schema: unknown): JsonSchema {
  const fields = fieldsOf(schema);
  if ('_zod' in fields) {
    // a copy of zod in another package is the same for this
    const { $schema: _, type = 'object', ...converted } = z.toJSONSchema(schema as z.ZodType, { io: 'input' });
    return { type: String(type), ...converted };
  }
  if ('_def' in fields) throw new TypeError(`TOOL_PARAMETERS: tool "${name}" has a schema of zod 3. Use zod 4, or the option parameters.`);
  // the type is checked by defineTool
  return schema as JsonSchema;
}

/** The content of the message that LangChain makes of a result. A tool may also return a message of its own, with an error. */
function resultOf(message: unknown): ToolReturn {
  const { content, status } = fieldsOf(message);
  if (status === 'error') throw new Error(textOfValue(content));
  if (Array.isArray(content)) return content.map(contentPart);
  return content ?? message ?? null;
}

/** One block of a content: LangChain's own, or that of OpenAI. */
function contentPart(given: unknown): ContentPart {
  if (typeof given === 'string') return textContent(given);
  const block = fieldsOf(given);
  if (block['type'] === 'text' && typeof block['text'] === 'string') return textContent(block['text']);
  const mime = block['mimeType'] ?? block['mime_type'];
  const { data } = block;
  if (typeof mime === 'string' && (typeof data === 'string' || data instanceof Uint8Array)) return fileContent(mime, data);
  const address = block['url'] ?? fieldsOf(block['image_url'])['url'] ?? block['image_url'];
  return typeof address === 'string' ? addressContent(address) : omittedContent(block['type']);
}
