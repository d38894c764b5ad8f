import type { ToolDescriptor } from '../../contracts/schemas/tool.js';
import type { AgentDefinition } from '../../define/define-agent.js';
import type { HookDefinition } from '../../define/define-hook.js';
import { type AnyToolDefinition, parametersSchema } from '../../define/define-tool.js';
import { hookFilter } from '../hooks/hook-filter.js';

/** What a tool's description depends on besides the tool. */
export interface ToolSurroundings {
  /** It is one of the built-in workspace tools. */
  readonly workspace: boolean;
  /** Whether the agent's gate must be asked before each call. */
  readonly gate: AgentDefinition['gate'];
  readonly hooks?: readonly HookDefinition[] | undefined;
}

/** A tool as the workflow knows it: data only. */
export function describeTool(tool: AnyToolDefinition, { workspace, gate, hooks = [] }: ToolSurroundings): ToolDescriptor {
  const isHooked = hooks.some((hook) => hook.on === 'before-tool' && mayMean(hook, tool.name));
  const isChecked = isHooked || typeof gate === 'function' || tool.approval !== 'never';
  return {
    name: tool.name,
    description: tool.description,
    schema: parametersSchema(tool),
    effect: tool.effect,
    timeoutMs: tool.timeoutMs,
    pure: tool.pure,
    approval: tool.approval !== 'never',
    ...(isChecked ? { checked: true } : {}),
    ...(tool.network === undefined ? {} : { network: tool.network }),
    hasReconcile: tool.reconcile !== undefined,
    workspace,
  };
}

/** Which paths a call has is known only once it is made. */
function mayMean({ tools }: HookDefinition, name: string): boolean {
  return hookFilter({ tools })({ tool: name });
}
