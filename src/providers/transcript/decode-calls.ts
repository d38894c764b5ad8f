import type { JsonValue, Part } from '../../contracts/schemas/message.js';
import { ModelError, type ModelErrorDetails } from '../contract/model-error.js';
import { type SchemaDialect, toDialect } from '../schema/schema-dialect.js';
import { dropNulls } from '../schema/strip-nulls.js';
import { toolNames } from './tool-names.js';

/** A tool as a request names it. */
interface AskedTool {
  readonly name: string;
  readonly schema: Record<string, JsonValue>;
}

/**
 * An answer's parts with the calls as our tools know them: by their own names, and without the nulls that a strict schema demands for
 * what is left out. For an answer to a request whose tools went out by `toolNames` and `toDialect`.
 */
export function ownCalls(parts: readonly Part[], tools: readonly AskedTool[], dialect: SchemaDialect = 'json-schema'): Part[] {
  const names = toolNames(tools);
  return parts.map((part) => {
    if (part.type !== 'tool_call') return part;
    const name = names.own(part.name);
    const tool = tools.find((candidate) => candidate.name === name);
    const isStrict = tool !== undefined && toDialect(tool.schema, dialect).strict;
    return { ...part, name, args: isStrict ? dropNulls(part.args, tool.schema) : part.args };
  });
}

/**
 * For an answer of which its server says that it ends in a call. Throws `Model.BadResponse` when neither a call nor a text is in it: the
 * call was lost on its way, and may come when the same is asked again. A text is an answer by itself: there are servers that say so of
 * every answer (https://github.com/mudler/LocalAI/issues/6218).
 */
export function refuseLostCall(parts: readonly Part[], details: Pick<ModelErrorDetails, 'requestId'>): void {
  const isAnswer = parts.some((part) => part.type === 'tool_call' || (part.type === 'text' && part.text.trim() !== ''));
  if (!isAnswer) throw new ModelError('Model.BadResponse', 'the response reports a tool call and contains none', details);
}
