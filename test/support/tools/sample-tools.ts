import { z } from 'zod';
import { type AnyToolDefinition, defineTool, type ToolDefinition, type ToolOptions } from '../../../src/define/define-tool.js';

type Numbered = ToolDefinition<{ n: number }>;

/** Reads: `seen 1`. */
export const look: Numbered = defineTool({
  name: 'look',
  description: 'Looks.',
  parameters: z.strictObject({ n: z.number() }),
  effect: 'read',
  execute: ({ n }) => `seen ${n}`,
});

/** Reads by other means, under the name of `look`. */
export function lookWith(execute: Numbered['execute']): Numbered {
  return { ...look, execute };
}

/** Reads about 500 tokens, under the name of `look`. */
export const longLook: Numbered = lookWith(({ n }) => `part ${n} ${'word '.repeat(400)}${n}`);

/** Acts once: `noted 1`. */
export const note: Numbered = defineTool({
  name: 'note',
  description: 'Notes a number.',
  parameters: z.strictObject({ n: z.number() }),
  effect: 'once',
  execute: ({ n }) => `noted ${n}`,
});

/** The same, but it may run again after a lost worker. */
export const idempotentNote: Numbered = { ...note, effect: 'idempotent' };

/** A tool without arguments, for example `bareTool('pay', () => 'paid')`. It acts once, unless `more` gives another effect. */
export function bareTool(
  name: string,
  execute: ToolOptions<object>['execute'],
  more: Partial<Pick<ToolOptions<object>, 'effect' | 'approval' | 'timeoutMs'>> = {},
): AnyToolDefinition {
  return defineTool({ name, description: name, parameters: z.strictObject({}), ...more, execute });
}

/** Acts once, and returns `released` when the test lets it. */
export function heldTool(opened: Promise<void>): AnyToolDefinition {
  return bareTool('held', () => opened.then(() => 'released'));
}

/** Acts once: `edited`. */
export const editFile: ToolDefinition<{ path: string }> = defineTool({
  name: 'edit_file',
  description: 'Edits.',
  parameters: z.strictObject({ path: z.string() }),
  execute: () => 'edited',
});

/** Notes a plan without looking at it: `2 steps noted`. */
export const updatePlan: ToolDefinition<{ steps: { step: string; status: string }[] }> = defineTool({
  name: 'update_plan',
  description: 'Notes the plan.',
  parameters: z.strictObject({ steps: z.array(z.strictObject({ step: z.string(), status: z.string() })) }),
  effect: 'idempotent',
  execute: ({ steps }) => `${steps.length} steps noted`,
});

/** Reads: says its own argument. */
export const echo: ToolDefinition<{ text: string }> = defineTool({
  name: 'echo',
  description: 'Says it again.',
  parameters: z.strictObject({ text: z.string() }),
  effect: 'read',
  execute: ({ text }) => text,
});
