import { appendFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { ToolContext } from '../../../define/define-tool.js';

/** One line of the effect log: a tool of the config started, returned (`end`) or threw. */
export const EffectRecord = z.object({
  what: z.enum(['start', 'end', 'threw']),
  tool: z.string(),
  effect: z.enum(['read', 'idempotent', 'once']),
  hasReconcile: z.boolean(),
  runId: z.string(),
  turn: z.number(),
  callId: z.string(),
  key: z.string(),
  attempt: z.number(),
  pid: z.number(),
  /** Milliseconds since 1970. */
  at: z.number(),
});
export type EffectRecord = z.infer<typeof EffectRecord>;

/** Appends one line with a single write call, so that lines of several processes never mix and a kill leaves no half line. */
export function noteEffect(
  file: string,
  what: EffectRecord['what'],
  tool: Pick<EffectRecord, 'tool' | 'effect' | 'hasReconcile'>,
  { runId, turn, callId, idempotencyKey, attempt }: ToolContext,
): void {
  const line: EffectRecord = { what, ...tool, runId, turn, callId, key: idempotencyKey, attempt, pid: process.pid, at: Date.now() };
  appendFileSync(file, `${JSON.stringify(line)}\n`);
}

/** The effects of one run, in the order of their times. */
export async function readEffects(file: string, runId: string): Promise<EffectRecord[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
  return lines.map((line) => EffectRecord.parse(JSON.parse(line))).filter((effect) => effect.runId === runId);
}
