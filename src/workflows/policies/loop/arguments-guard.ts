import { LOOP_LIMITS } from '../../../contracts/constants/limits.js';
import type { Guard } from './guard.js';

/** Turns in a row in which no call had JSON arguments. */
export interface ArgumentsMemory {
  // an index signature, because a state is JSON
  readonly [field: string]: number;
  readonly turns: number;
}

/**
 * The guard over arguments: a model that sends no JSON object in three answers in a row has no result from any tool, and the run ends
 * with a final answer. Each answer may be different, so the loop guard does not find it. One call with JSON arguments resets it.
 */
export const argumentsGuard: Guard<ArgumentsMemory> = {
  name: 'arguments',
  initialState: { turns: 0 },
  judge({ turns }, { turn, calls, policy }) {
    const count = turns + 1;
    if (!policy.limitsBadArguments || !hasNoJson(calls) || count < LOOP_LIMITS.badArgumentsTurns) return undefined;
    const what = `arguments that are no JSON object in ${count} answers in a row`;
    return {
      kind: 'stop',
      text: `[not run] ${what}: the run ends`,
      event: { type: 'loop.detected', turn, pattern: 'bad-arguments', count, action: 'stop' },
      decision: `turn ${turn}: ${what}: stop`,
      ...(policy.loop.onLoop === 'error' ? { error: { type: 'Run.LoopDetected', message: what } } : {}),
    };
  },
  remember: ({ turns }, { calls }) => ({ state: { turns: hasNoJson(calls) ? turns + 1 : 0 } }),
  // a message of a person may be a correction
  afterMessage: () => ({ turns: 0 }),
};

function hasNoJson(calls: readonly { readonly argsText?: string | undefined }[]): boolean {
  return calls.length > 0 && calls.every(({ argsText }) => argsText !== undefined);
}
