import type { GateRule } from '../contracts/schemas/policy.js';
import { didYouMean } from '../contracts/text/did-you-mean.js';
import type { AgentDefinition } from '../define/define-agent.js';
import { meaninglessNames } from './config/check-hooks.js';
import { type KnownTools, PATH_ARGUMENTS, takesArgument } from './takes-argument.js';

/** What a schema cannot see in an agent's gate: rules that could never match, and would be relied upon. */
export function gateProblems(agent: string, gate: AgentDefinition['gate'], known: KnownTools): string[] {
  const rules = typeof gate === 'object' ? (gate.rules ?? []) : [];
  return rules.flatMap((rule, index) => ruleProblems(`agents.${agent}.gate.rules.${index}`, rule, known));
}

function ruleProblems(path: string, { tool, command, paths = [] }: GateRule, { names, tools }: KnownTools): string[] {
  const odd = paths.filter((glob) => /[[\]{}\\]/u.test(glob));
  return [
    ...meaninglessNames([tool], names).map((name) => `${path}.tool: no tool named ${name}${didYouMean(name, names)}`),
    ...(command?.trim() === '' ? [`${path}.command: the first words of a command`] : []),
    ...(command !== undefined && !takesArgument(tools, [tool], ['command']) ? [`${path}.command: ${tool} takes no command`] : []),
    ...(paths.length > 0 && !takesArgument(tools, [tool], PATH_ARGUMENTS) ? [`${path}.paths: ${tool} takes no path`] : []),
    ...odd.map((glob) => `${path}.paths: ${glob}: only *, ** and ? stand for something here; write a glob for each case`),
  ];
}
