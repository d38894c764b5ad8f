import type { ExtendInput, Progress } from '../../../../contracts/schemas/run.js';
import { type Gauge, gaugesOf } from './gauges.js';

/** A limit that a user may raise. */
export interface RaisableLimit extends Gauge {
  readonly limit: number;
}

/** The limits of a run. Pure. */
export function limitsOf(progress: Progress): readonly RaisableLimit[] {
  return gaugesOf(progress).flatMap(({ limit, ...gauge }) => (limit === undefined ? [] : [{ ...gauge, limit }]));
}

/**
 * The limit that a run waits at: of those that its request names, such as `5000 tokens or $2`, the one of which the most is used. A limit of
 * tokens or cost is reached when the next answer would not fit, so a part of it may be left. Pure.
 */
export function reachedLimit(limits: readonly RaisableLimit[], named: string): RaisableLimit | undefined {
  const candidates = limits.filter(({ key }) => NAMES[key].test(named));
  return (candidates.length > 0 ? candidates : limits).toSorted((a, b) => share(b) - share(a))[0];
}

/** How a request names each limit. */
const NAMES: Readonly<Record<keyof ExtendInput, RegExp>> = {
  turns: /turns/u,
  tokens: /tokens/u,
  costUsd: /\$/u,
  deadlineMs: /working time/u,
};

function share({ used, limit }: RaisableLimit): number {
  return limit === 0 ? 1 : used / limit;
}
