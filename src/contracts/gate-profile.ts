import type { GateDecision, GatePolicy, GateProfile, GateRule } from './schemas/policy.js';
import type { ToolDescriptor } from './schemas/tool.js';
import { matchesName } from './text/wildcard.js';

/** What the gate looks at in a tool. */
export type GatedTool = Pick<ToolDescriptor, 'name' | 'effect' | 'network'>;

/** What a profile says of a tool that no rule decides. A tool of which nothing is known is taken to reach other machines. */
export function profileDecision(profile: GateProfile, tool: GatedTool): GateDecision {
  switch (profile) {
    case 'all':
      return 'allow';
    case 'read-only':
      return tool.effect === 'read' ? 'allow' : 'block';
    case 'no-network':
      return tool.network === false ? 'allow' : 'block';
    case 'ask-before-writing':
      return tool.effect === 'read' ? 'allow' : 'ask';
  }
}

/** False when the gate would block every call of a tool, whatever its arguments: the model is then not offered it. */
export function offersTool(policy: GatePolicy, tool: GatedTool): boolean {
  for (const rule of policy.rules) {
    if (!matchesName(rule.tool, tool.name)) continue;
    if (rule.decision !== 'block') return true;
    if (decidesAllCalls(rule)) return false;
  }
  return profileDecision(policy.profile, tool) !== 'block';
}

function decidesAllCalls(rule: GateRule): boolean {
  return rule.command === undefined && rule.paths === undefined;
}
