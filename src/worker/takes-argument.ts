import { matchesName } from '../contracts/matches-name.js';
import { type AnyToolDefinition, parametersSchema } from '../define/define-tool.js';

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
