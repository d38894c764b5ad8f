import { LOOP_LIMITS } from '../../../contracts/constants/limits.js';
import type { LoopMemory } from '../../../contracts/schemas/carried-state.js';
import type { LoopPolicy } from '../../../contracts/schemas/policy.js';

/**
 * The patterns of a loop.
 * `repeat`: the same turn with the same result · `alternation`: two turns that strictly alternate, A B A B A B · `two-turns`: only two
 * different turns · `ceiling`: the same turn with any result · `same-result`: slightly varied calls with the same result, or calls of the
 * same tools that fail the same way · `cycle`: a longer cycle, in which every turn repeats an earlier one with the same result.
 */
export type LoopPattern = 'repeat' | 'alternation' | 'two-turns' | 'ceiling' | 'same-result' | 'cycle';

/** The length of a pattern in turns, the current one included, and the counts at which the guard acts. */
export interface LoopMeasure {
  readonly pattern: LoopPattern;
  readonly count: number;
  readonly nudgeAt: number;
  /** Absent for patterns without a single call to block. */
  readonly blockAt?: number;
  readonly stopAt: number;
  /** The count that is a loop under `onLoop: "error"`. */
  readonly detectedAt: number;
}

/** A turn that is about to run. `shapes`: the shapes that an equal turn in the memory may have, as a success or as a failure. */
export interface CurrentTurn {
  readonly signature: string;
  readonly shapes: readonly string[];
}

type PastTurn = LoopMemory['turns'][number];

/** Measures every pattern that the current turn may be part of. Pure; one pass over at most LOOP_LIMITS.memoryTurns turns for each. */
export function measureLoops(past: readonly PastTurn[], current: CurrentTurn, policy: LoopPolicy): LoopMeasure[] {
  const { nudgeAt, blockAt, stopAt } = policy;
  const { alternationTurns, windowTurns } = LOOP_LIMITS;
  const pair = lastOfTwo(past, current.signature);
  return [
    {
      pattern: 'repeat',
      count: repeats(past, current.signature),
      nudgeAt,
      blockAt,
      stopAt,
      detectedAt: Math.min(nudgeAt, blockAt, stopAt),
    },
    twoTurnLadder('alternation', alternating(pair, current.signature), alternationTurns),
    twoTurnLadder('two-turns', isPair(pair, current.signature) ? pair.length + 1 : 0, windowTurns),
    ceilingLadder('ceiling', occurrences(past, current.signature)),
    ceilingLadder('same-result', sameResults(past, current)),
    ceilingLadder('cycle', nothingNew(past, current.signature)),
  ];
}

function twoTurnLadder(pattern: LoopPattern, count: number, nudgeAt: number): LoopMeasure {
  return { pattern, count, nudgeAt, stopAt: nudgeAt + LOOP_LIMITS.patternGraceTurns, detectedAt: nudgeAt };
}

function ceilingLadder(pattern: LoopPattern, count: number): LoopMeasure {
  const { ceilingNudgeTurns, ceilingTurns } = LOOP_LIMITS;
  return { pattern, count, nudgeAt: ceilingNudgeTurns, stopAt: ceilingTurns, detectedAt: ceilingTurns };
}

/** The number of turns in a row with the current calls and equal results. The current turn counts, although it has no result yet. */
function repeats(past: readonly PastTurn[], signature: string): number {
  const result = past.at(-1)?.result;
  return lastWhile(past, (turn) => turn.signature === signature && turn.result === result).length + 1;
}

/** The last turns that are, with the current one, at most two different turns, each with an unchanged result. */
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

/** How often the current turn occurs in the last range of at most two different turns, with any result. */
function occurrences(past: readonly PastTurn[], signature: string): number {
  const different = new Set([signature]);
  const stretch = lastWhile(past, (turn) => different.add(turn.signature).size <= LOOP_LIMITS.windowDistinctMax);
  return stretch.filter((turn) => turn.signature === signature).length + 1;
}

function sameResults(past: readonly PastTurn[], { shapes }: CurrentTurn): number {
  const result = past.at(-1)?.result;
  return lastWhile(past, (turn) => turn.result === result && shapes.includes(turn.shape)).length + 1;
}

/** The number of turns in a row that repeat an earlier turn with the same result. 0 when the current turn is new. */
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

/** The longest tail of a list whose items all pass, tested from the last one backwards. */
function lastWhile<Item>(items: readonly Item[], passes: (item: Item) => boolean): readonly Item[] {
  return items.slice(items.findLastIndex((item) => !passes(item)) + 1);
}
