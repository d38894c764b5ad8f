import type { CallToolInput } from '../../contracts/activities.js';
import { cutText } from '../../contracts/text/redact.js';
import { type AnyToolDefinition, parametersSchema } from '../../define/define-tool.js';
import { parseArgumentsText } from '../../providers/transcript/parse-arguments.js';

const SENT_CHARS_SHOWN = 800;
const SCHEMA_BYTES_SHOWN = 4_000;

/**
 * The parsed arguments of a call, or the problem as a text for the model: the reason, the schema and the sent arguments. Never throws.
 */
export function toolArguments(
  input: Pick<CallToolInput, 'tool' | 'args' | 'argsText'>,
  tool: AnyToolDefinition,
): { readonly args: unknown } | { readonly problem: string } {
  const { argsText } = input;
  const parsed = tool.parameters.safeParse(input.args);
  if (argsText === undefined && parsed.success) return { args: parsed.data };
  const why = argsText === undefined ? undefined : textProblem(argsText);
  const issues = parsed.error?.issues.map(({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`).join('; ');
  const schema = cutText(JSON.stringify(parametersSchema(tool)), SCHEMA_BYTES_SHOWN);
  const sent = (argsText ?? JSON.stringify(input.args)).slice(0, SENT_CHARS_SHOWN);
  return {
    problem: `invalid arguments for ${input.tool}: ${why ?? issues ?? 'not an object'}; schema: ${schema}; you sent (first ${SENT_CHARS_SHOWN} chars): ${sent}`,
  };
}

function textProblem(text: string): string {
  const parsed = parseArgumentsText(text);
  return 'problem' in parsed ? parsed.problem : 'not a JSON object';
}
