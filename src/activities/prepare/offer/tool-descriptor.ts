import type { ToolDescriptor } from '../../../contracts/schemas/tool.js';
import type { AgentDefinition } from '../../../define/define-agent.js';
import type { HookDefinition } from '../../../define/define-hook.js';
import { type AnyToolDefinition, parametersSchema } from '../../../define/define-tool.js';
import { hookFilter } from '../../hooks/hook-filter.js';

/** The facts beside the tool that its descriptor depends on. */
export interface ToolSurroundings {
  /** True for the built-in workspace tools. */
  readonly workspace: boolean;
  /** The agent's gate. A function must run before each call. */
  readonly gate: AgentDefinition['gate'];
  readonly hooks?: readonly HookDefinition[] | undefined;
  /** For a tool whose calls the workflow answers. */
  readonly waits?: ToolDescriptor['waits'];
  /** For a tool whose calls may ask the person of the run. @default false */
  readonly asks?: boolean | undefined;
  /** For a tool whose calls may request completions of the run. @default none may */
  readonly samples?: ToolDescriptor['samples'];
}

/** The descriptor of a tool for the workflow: data only. */
export function describeTool(tool: AnyToolDefinition, surroundings: ToolSurroundings): ToolDescriptor {
  const { workspace, gate, hooks = [], waits, asks, samples } = surroundings;
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
    ...(waits === undefined ? {} : { waits }),
    ...(asks ? { asks } : {}),
    ...(samples ? { samples } : {}),
    hasReconcile: tool.reconcile !== undefined,
    workspace,
  };
}

/** True when a hook may match a call of this tool. Path filters are ignored, because the paths are in the call. */
function mayMean({ tools }: HookDefinition, name: string): boolean {
  return hookFilter({ tools })({ tool: name });
}
