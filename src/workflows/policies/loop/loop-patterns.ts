import { LOOP_LIMITS } from '../../../contracts/constants/limits.js';
import type { LoopMemory } from '../../../contracts/schemas/carried-state.js';
import type { LoopPolicy } from '../../../contracts/schemas/policy.js';

/**
 * How a run can go in circles.
 * `repeat`: the same turn with the same result · `alternation`: two turns in strict change, A B A B A B · `two-turns`: no other than
 * two different turns · `ceiling`: the same turn, whatever its results · `same-result`: slightly varied calls that give the same
 * result, or whatever calls that fail alike · `cycle`: longer circles, turn after turn that was there before with the same result.
 */
export type LoopPattern = 'repeat' | 'alternation' | 'two-turns' | 'ceiling' | 'same-result' | 'cycle';

/** How far a pattern has come, in turns with the present one included, and at which counts the guard acts. */
export interface LoopMeasure {
  readonly pattern: LoopPattern;
  readonly count: number;
  readonly nudgeAt: number;
  /** Absent: the pattern has no single call to block. */
  readonly blockAt?: number;
  readonly stopAt: number;
  /** The count that a run which ends at the first loop takes for one. */
  readonly detectedAt: number;
}

/** A turn that is about to run. `shapes`: what a finished turn may be remembered under, by its arguments or by its failure. */
export interface PresentTurn {
  readonly signature: string;
  readonly shapes: readonly string[];
}

type PastTurn = LoopMemory['turns'][number];

/** Measures every pattern that the present turn may be part of. Pure, in one pass over at most LOOP_LIMITS.memoryTurns turns each. */
export function measureLoops(past: readonly PastTurn[], present: PresentTurn, policy: LoopPolicy): LoopMeasure[] {
  const { nudgeAt, blockAt, stopAt } = policy;
  const { alternationTurns, windowTurns } = LOOP_LIMITS;
  const pair = lastOfTwo(past, present.signature);
  return [
    {
      pattern: 'repeat',
      count: repeats(past, present.signature),
      nudgeAt,
      blockAt,
      stopAt,
      detectedAt: Math.min(nudgeAt, blockAt, stopAt),
    },
    twoTurnLadder('alternation', alternating(pair, present.signature), alternationTurns),
    twoTurnLadder('two-turns', isPair(pair, present.signature) ? pair.length + 1 : 0, windowTurns),
    ceilingLadder('ceiling', occurrences(past, present.signature)),
    ceilingLadder('same-result', sameResults(past, present)),
    ceilingLadder('cycle', nothingNew(past, present.signature)),
  ];
}

function twoTurnLadder(pattern: LoopPattern, count: number, nudgeAt: number): LoopMeasure {
  return { pattern, count, nudgeAt, stopAt: nudgeAt + LOOP_LIMITS.patternGraceTurns, detectedAt: nudgeAt };
}

function ceilingLadder(pattern: LoopPattern, count: number): LoopMeasure {
  const { ceilingNudgeTurns, ceilingTurns } = LOOP_LIMITS;
  return { pattern, count, nudgeAt: ceilingNudgeTurns, stopAt: ceilingTurns, detectedAt: ceilingTurns };
}

/** Turns in a row that made the present calls and all gave the same; the present one counts though its result is not known yet. */
function repeats(past: readonly PastTurn[], signature: string): number {
  const result = past.at(-1)?.result;
  return lastWhile(past, (turn) => turn.signature === signature && turn.result === result).length + 1;
}

/** The last turns that were, with the present one, no more than two different ones, each with a result that did not change. */
function lastOfTwo(past: readonly PastTurn[], signature: string): readonly PastTurn[] {
  const results = new Map<string, string | undefined>([[signature, undefined]]);
  return lastWhile(past, (turn) => {
    if (!results.has(turn.signature) && results.size === LOOP_LIMITS.windowDistinctMax) return false;
    const known = results.get(turn.signature);
    results.set(turn.signature, turn.result);
    return known === undefined || known === turn.result;
  });
}

function isPair(turns: readonly PastTurn[], signature: string): boolean {
  return new Set([signature, ...turns.map((turn) => turn.signature)]).size === LOOP_LIMITS.windowDistinctMax;
}

function alternating(pair: readonly PastTurn[], signature: string): number {
  let next = signature;
  const inChange = lastWhile(pair, (turn) => {
    const changed = turn.signature !== next;
    next = turn.signature;
    return changed;
  });
  return inChange.length + 1;
}

/** How often the present turn was taken in a stretch of no more than two different ones, whatever the results. */
function occurrences(past: readonly PastTurn[], signature: string): number {
  const different = new Set([signature]);
  const stretch = lastWhile(past, (turn) => different.add(turn.signature).size <= LOOP_LIMITS.windowDistinctMax);
  return stretch.filter((turn) => turn.signature === signature).length + 1;
}

function sameResults(past: readonly PastTurn[], { shapes }: PresentTurn): number {
  const result = past.at(-1)?.result;
  return lastWhile(past, (turn) => turn.result === result && shapes.includes(turn.shape)).length + 1;
}

/** Turns in a row that brought nothing new: each was taken before, with the same result. 0 when the present one was not. */
function nothingNew(past: readonly PastTurn[], signature: string): number {
  const seen = new Set<string>();
  let count = 0;
  for (const turn of past) {
    const what = `${turn.signature} ${turn.result}`;
    count = seen.has(what) ? count + 1 : 0;
    seen.add(what);
  }
  return past.some((turn) => turn.signature === signature) ? count + 1 : 0;
}

/** The longest end of a list whose items all pass, asked from the last one back. */
function lastWhile<Item>(items: readonly Item[], passes: (item: Item) => boolean): readonly Item[] {
  return items.slice(items.findLastIndex((item) => !passes(item)) + 1);
}
