import { didYouMean } from '../../../contracts/text/did-you-mean.js';
import { matchesName } from '../../../contracts/text/wildcard.js';
import type { HookDefinition } from '../../../define/define-hook.js';
import { type KnownTools, PATH_ARGUMENTS, takesArgument } from './check-tools.js';

/** Checks hooks beyond their schema: duplicate names, unknown tools, filters without effect. */
export function hookProblems(hooks: readonly HookDefinition[], known: KnownTools): string[] {
  const names = hooks.map(({ name }) => name);
  return [
    ...names.filter((name, index) => names.indexOf(name) !== index).map((name) => `hooks: "${name}" is defined twice`),
    ...hooks.flatMap((hook) => filterProblems(hook, known)),
  ];
}

function filterProblems({ name, on, tools = [], paths = [] }: HookDefinition, known: KnownTools): string[] {
  const path = `hooks.${name}`;
  const isAroundTools = on === 'before-tool' || on === 'after-tool';
  if (!isAroundTools && tools.length + paths.length > 0)
    return [`${path}: tools and paths filter tool calls; remove them from a ${on} hook`];
  return [
    ...unmatchedPatterns(tools, known.names).map((tool) => `${path}.tools: no tool named "${tool}"${didYouMean(tool, known.names)}`),
    ...(paths.length > 0 && !takesArgument(known.tools, tools, PATH_ARGUMENTS) ? [`${path}.paths: ${tools.join(', ')} takes no path`] : []),
  ];
}

/** The patterns that match no known tool. */
export function unmatchedPatterns(patterns: readonly string[], toolNames: readonly string[]): string[] {
  return patterns.filter((pattern) => !toolNames.some((name) => matchesName(pattern, name)));
}
