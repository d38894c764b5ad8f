import type { GateDecision, GatePolicy, GateProfile, GateRule } from '../schemas/policy.js';
import type { ToolDescriptor } from '../schemas/tool.js';
import { matchesName } from '../text/wildcard.js';

/** The properties of a tool that the gate uses. */
export type GatedTool = Pick<ToolDescriptor, 'name' | 'effect' | 'network'>;

/** Decision of a profile on a tool that no rule matches. A tool without `network: false` counts as one that uses the network. */
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

/** False when the gate blocks every call of a tool, whatever its arguments. The model is not offered such a tool. */
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
