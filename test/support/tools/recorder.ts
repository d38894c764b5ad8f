import { z } from 'zod';
import { type AnyToolDefinition, defineTool } from '../../../src/define/define-tool.js';

/** Tools that say what they were called with, and the order in which they ran: `look`, the pure `know`, and one that is `once`. `textOf` makes their results. */
export function recorder(
  once = 'change',
  textOf = (name: string, n: number): string => `${name} ${n}`,
): { readonly log: string[]; readonly tools: readonly AnyToolDefinition[] } {
  const log: string[] = [];
  const tool = (name: string, effect: 'read' | 'once', pure = false): AnyToolDefinition =>
    defineTool({
      name,
      description: name,
      parameters: z.strictObject({ n: z.number() }),
      effect,
      pure,
      execute: ({ n }) => {
        log.push(`${name} ${n}`);
        return textOf(name, n);
      },
    });
  return { log, tools: [tool('look', 'read'), tool('know', 'read', true), tool(once, 'once')] };
}
