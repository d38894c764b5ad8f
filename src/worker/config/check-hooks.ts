import { didYouMean } from '../../contracts/text/did-you-mean.js';
import { matchesName } from '../../contracts/text/wildcard.js';
import type { HookDefinition } from '../../define/define-hook.js';
import { type KnownTools, PATH_ARGUMENTS, takesArgument } from './check-tools.js';

/** What a schema cannot see in hooks: names that collide, tools that are nowhere, filters that mean nothing where they stand. */
export function hookProblems(hooks: readonly HookDefinition[], known: KnownTools): string[] {
  const names = hooks.map(({ name }) => name);
  return [
    ...names.filter((name, index) => names.indexOf(name) !== index).map((name) => `hooks: ${name} is there twice`),
    ...hooks.flatMap((hook) => filterProblems(hook, known)),
  ];
}

function filterProblems({ name, on, tools = [], paths = [] }: HookDefinition, known: KnownTools): string[] {
  const path = `hooks.${name}`;
  const isAroundTools = on === 'before-tool' || on === 'after-tool';
  if (!isAroundTools && tools.length + paths.length > 0) return [`${path}: tools and paths filter calls, and ${on} has none`];
  return [
    ...meaninglessNames(tools, known.names).map((tool) => `${path}.tools: no tool named ${tool}${didYouMean(tool, known.names)}`),
    ...(paths.length > 0 && !takesArgument(known.tools, tools, PATH_ARGUMENTS) ? [`${path}.paths: ${tools.join(', ')} takes no path`] : []),
  ];
}

/** The patterns that mean none of the tools there are. */
export function meaninglessNames(patterns: readonly string[], toolNames: readonly string[]): string[] {
  return patterns.filter((pattern) => !toolNames.some((name) => matchesName(pattern, name)));
}
