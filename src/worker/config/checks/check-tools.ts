import { outputSchemaProblem } from '../../../activities/answer/output-schema.js';
import { TOOL_LIMITS } from '../../../contracts/constants/limits.js';
import { matchesName } from '../../../contracts/text/wildcard.js';
import { type AnyToolDefinition, parametersSchema } from '../../../define/define-tool.js';

/** Checks tools beyond their schema: duplicate names, names of built-in tools, invalid parameters and references to other documents. */
export function toolProblems(tools: readonly AnyToolDefinition[], builtIn: readonly string[]): string[] {
  return [...duplicateTools(tools, builtIn), ...tools.flatMap(definitionProblems)];
}

function duplicateTools(tools: readonly AnyToolDefinition[], builtIn: readonly string[]): string[] {
  const names = tools.map(({ name }) => name);
  return [
    ...names.filter((name, index) => names.indexOf(name) !== index).map((name) => `tools: TOOL_NAME "${name}" is defined twice`),
    ...names.filter((name) => builtIn.includes(name)).map((name) => `tools: TOOL_NAME "${name}" is the name of a built-in tool`),
  ];
}

function definitionProblems(tool: AnyToolDefinition): string[] {
  const path = `tools.${tool.name}`;
  const problem = schemaProblem(tool);
  return [
    ...(isApproval(tool.approval) ? [] : [`${path}.approval: use "never", "always" or a function of the arguments`]),
    ...(problem ? [`${path}.${problem}`] : []),
  ];
}

function isApproval(approval: unknown): boolean {
  return approval === 'never' || approval === 'always' || typeof approval === 'function';
}

/** The problem of a tool's parameters with its path. Nothing is fetched: a reference to another document is a problem too. */
function schemaProblem(tool: AnyToolDefinition): string | undefined {
  try {
    const schema = parametersSchema(tool);
    if (schema['type'] !== 'object') return 'parameters: use an object schema, such as z.strictObject({ … })';
    const bytes = Buffer.byteLength(JSON.stringify(schema));
    const bytesMax = TOOL_LIMITS.schemaBytesMax;
    if (bytes > bytesMax) return `parameters: the schema has ${bytes} bytes (limit: ${bytesMax})`;
    return outputSchemaProblem(schema, { root: 'parameters', bytesMax });
  } catch (error) {
    return `parameters: cannot be converted to JSON Schema: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** True for a name, or a pattern, of tools of MCP servers: `SERVER_…`. Which tools they have is known when they run. */
export function isOfServer(name: string, servers: readonly string[]): boolean {
  return servers.some((server) => name.startsWith(`${server}_`));
}

/** The names of all tools, and the definitions of those whose arguments are known. */
export interface KnownTools {
  readonly names: readonly string[];
  readonly tools: readonly AnyToolDefinition[];
  /** The names of MCP servers. */
  readonly servers: readonly string[];
}

/** The arguments that a path filter matches. */
export const PATH_ARGUMENTS = ['path', 'file_path'];

/**
 * False if no tool that matches the patterns takes one of these arguments, so that a filter on them can never match. A tool with an
 * unreadable schema, or with additional properties, may take all of them. Never throws.
 */
export function takesArgument(tools: readonly AnyToolDefinition[], patterns: readonly string[], names: readonly string[]): boolean {
  const matching = tools.filter(({ name }) => patterns.some((pattern) => matchesName(pattern, name)));
  return matching.length === 0 || matching.some((tool) => mayTake(tool, names));
}

function mayTake(tool: AnyToolDefinition, names: readonly string[]): boolean {
  try {
    const { additionalProperties, properties } = parametersSchema(tool);
    if (additionalProperties !== false || typeof properties !== 'object' || properties === null) return true;
    return names.some((name) => Object.hasOwn(properties, name));
  } catch {
    // `toolProblems` reports the invalid schema
    return true;
  }
}
