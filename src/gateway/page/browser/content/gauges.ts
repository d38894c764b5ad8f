import type { ExtendInput, Progress } from '../../../../contracts/schemas/run.js';
import { costText, durationText, tokensText } from './format.js';

/** An amount of a run, with its limit. */
export interface Gauge {
  readonly name: string;
  /** The limit, as route `extend` names it. */
  readonly key: keyof ExtendInput;
  readonly used: number;
  /** Absent: no limit. */
  readonly limit?: number;
  readonly text: (amount: number) => string;
}

/** What a run has used of turns, tokens, cost and time, as far as it is known. Pure. */
export function gaugesOf({ turn, maxTurns, usage, costUsd, limits = {} }: Progress): readonly Gauge[] {
  const { maxTokens, maxCostUsd, deadlineMs, workedMs } = limits;
  const tokens = usage.inputTokens + usage.outputTokens;
  return [
    { name: 'Turns', key: 'turns', used: turn, limit: maxTurns, text: String },
    { name: 'Tokens', key: 'tokens', used: tokens, text: tokensText, ...(maxTokens === undefined ? {} : { limit: maxTokens }) },
    ...(costUsd === undefined
      ? []
      : [
          {
            name: 'Cost',
            key: 'costUsd',
            used: costUsd,
            text: costText,
            ...(maxCostUsd === undefined ? {} : { limit: maxCostUsd }),
          } as const,
        ]),
    ...(deadlineMs === undefined || workedMs === undefined
      ? []
      : [{ name: 'Time', key: 'deadlineMs', used: workedMs, limit: deadlineMs, text: durationText } as const]),
  ];
}

/** `3 of 12`, or the amount alone without a limit. Pure. */
export function gaugeText({ used, limit, text }: Gauge): string {
  return limit === undefined ? text(used) : `${text(used)} of ${text(limit)}`;
}
