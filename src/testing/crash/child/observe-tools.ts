import type { Config } from '../../../define/define-config.js';
import type { AnyToolDefinition, ToolContext, ToolReturn } from '../../../define/define-tool.js';
import type { BoundaryGate } from './boundary-gate.js';
import { type EffectRecord, noteEffect } from './effect-log.js';

/** The observers of the tools. */
export interface ToolObservers {
  readonly effectLog: string;
  readonly gate: BoundaryGate;
}

/** The same config with tools that note each start and end in the effect log, and report the boundary after their start. */
export function observeTools(config: Config, observers: ToolObservers): Config {
  return config.tools === undefined ? config : { ...config, tools: config.tools.map((tool) => observed(tool, observers)) };
}

function observed(tool: AnyToolDefinition, { effectLog, gate }: ToolObservers): AnyToolDefinition {
  const facts = { tool: tool.name, effect: tool.effect, hasReconcile: tool.reconcile !== undefined };
  const note = (what: EffectRecord['what'], context: ToolContext): void => noteEffect(effectLog, what, facts, context);
  return {
    ...tool,
    async execute(args: never, context: ToolContext): Promise<ToolReturn> {
      note('start', context);
      await gate.pass({ point: 'inside', activity: 'callTool', tool: tool.name, runId: context.runId });
      try {
        const value = await tool.execute(args, context);
        note('end', context);
        return value;
      } catch (error) {
        note('threw', context);
        throw error;
      }
    },
  };
}
