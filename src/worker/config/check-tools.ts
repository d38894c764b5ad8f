import { TOOL_LIMITS } from '../../contracts/constants/limits.js';
import { matchesName } from '../../contracts/text/wildcard.js';
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

/** The tools there are: by name, and those of them whose arguments are known. */
export interface KnownTools {
  readonly names: readonly string[];
  readonly tools: readonly AnyToolDefinition[];
}

/** What a filter of paths looks at in a call. */
export const PATH_ARGUMENTS = ['path', 'file_path'];

/**
 * False when none of the tools that the patterns mean takes any of these arguments: a filter on them could never match, and would be
 * relied upon. A tool whose schema cannot be read, or takes more than it names, may take them all. Never throws.
 */
export function takesArgument(tools: readonly AnyToolDefinition[], patterns: readonly string[], names: readonly string[]): boolean {
  const meant = tools.filter(({ name }) => patterns.some((pattern) => matchesName(pattern, name)));
  return meant.length === 0 || meant.some((tool) => mayTake(tool, names));
}

function mayTake(tool: AnyToolDefinition, names: readonly string[]): boolean {
  try {
    const { additionalProperties, properties } = parametersSchema(tool);
    if (additionalProperties !== false || typeof properties !== 'object' || properties === null) return true;
    return names.some((name) => Object.hasOwn(properties, name));
  } catch {
    // told as a problem of the tool's own
    return true;
  }
}
