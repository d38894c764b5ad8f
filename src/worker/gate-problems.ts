import { didYouMean } from '../contracts/nearest-name.js';
import type { GateRule } from '../contracts/policy.js';
import type { AgentDefinition } from '../define/define-agent.js';
import { meaninglessNames } from './hook-problems.js';

/** What a schema cannot see in an agent's gate: rules that could never match, and would be relied upon. */
export function gateProblems(agent: string, gate: AgentDefinition['gate'], toolNames: readonly string[]): string[] {
  const rules = typeof gate === 'object' ? (gate.rules ?? []) : [];
  return rules.flatMap((rule, index) => ruleProblems(`agents.${agent}.gate.rules.${index}`, rule, toolNames));
}

function ruleProblems(path: string, { tool, command, paths = [] }: GateRule, toolNames: readonly string[]): string[] {
  const odd = paths.filter((glob) => /[[\]{}\\]/u.test(glob));
  return [
    ...meaninglessNames([tool], toolNames).map((name) => `${path}.tool: no tool named ${name}${didYouMean(name, toolNames)}`),
    ...(command?.trim() === '' ? [`${path}.command: the first words of a command`] : []),
    ...odd.map((glob) => `${path}.paths: ${glob}: only *, ** and ? stand for something here; write a glob for each case`),
  ];
}
