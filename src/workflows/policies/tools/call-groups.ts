import type { ToolCallPart } from '../../../contracts/schemas/message.js';
import type { Effect } from '../../../contracts/schemas/tool.js';

/** Positions of calls that may run at the same time. */
export interface CallGroup {
  readonly indexes: readonly number[];
  readonly parallel: boolean;
}

/**
 * Groups the calls of one answer: neighbouring `read` calls together, every other call alone. The order is kept,
 * so a read after a write sees what was written.
 */
export function groupCalls(calls: readonly ToolCallPart[], effectOf: (name: string) => Effect | undefined): CallGroup[] {
  const groups: { indexes: number[]; parallel: boolean }[] = [];
  for (const [index, call] of calls.entries()) {
    const parallel = effectOf(call.name) === 'read';
    const last = groups.at(-1);
    if (parallel && last?.parallel) last.indexes.push(index);
    else groups.push({ indexes: [index], parallel });
  }
  return groups;
}
