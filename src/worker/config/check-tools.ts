import { TOOL_LIMITS } from '../../contracts/constants/limits.js';
import { type AnyToolDefinition, parametersSchema } from '../../define/define-tool.js';

/** What a schema cannot see of the config's tools: names that collide with each other or with a built-in one, parameters without a schema. */
export function toolProblems(tools: readonly AnyToolDefinition[], builtIn: readonly string[]): string[] {
  return [...duplicateTools(tools, builtIn), ...tools.flatMap(definitionProblems)];
}

function duplicateTools(tools: readonly AnyToolDefinition[], builtIn: readonly string[]): string[] {
  const names = tools.map(({ name }) => name);
  return [
    ...names.filter((name, index) => names.indexOf(name) !== index).map((name) => `tools: TOOL_NAME ${name} is there twice`),
    ...names.filter((name) => builtIn.includes(name)).map((name) => `tools: TOOL_NAME ${name} is a built-in tool`),
  ];
}

function definitionProblems(tool: AnyToolDefinition): string[] {
  const path = `tools.${tool.name}`;
  const problem = schemaProblem(tool);
  return [
    ...(isApproval(tool.approval) ? [] : [`${path}.approval: use "never", "always" or a function of the arguments`]),
    ...(problem ? [`${path}.parameters: ${problem}`] : []),
  ];
}

function isApproval(approval: unknown): boolean {
  return approval === 'never' || approval === 'always' || typeof approval === 'function';
}

function schemaProblem(tool: AnyToolDefinition): string | undefined {
  try {
    const schema = parametersSchema(tool);
    if (schema['type'] !== 'object') return 'an object schema is needed, such as z.strictObject({ … })';
    const bytes = Buffer.byteLength(JSON.stringify(schema));
    return bytes > TOOL_LIMITS.schemaBytesMax ? `a schema of ${bytes} bytes; at most ${TOOL_LIMITS.schemaBytesMax}` : undefined;
  } catch (error) {
    return `no JSON Schema can be made of it: ${error instanceof Error ? error.message : String(error)}`;
  }
}
