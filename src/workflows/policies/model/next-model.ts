import { type CooldownTable, modelKey } from '../../../contracts/models/cooldowns.js';
import type { ModelCandidate } from '../../../contracts/schemas/model-route.js';

/** A model with the key that it is asked with. */
export interface ModelPair {
  readonly candidate: ModelCandidate;
  /** Absent: the provider's first usable one. */
  readonly credential?: string;
}

/** What the choice is made from. */
export interface NextModelFacts {
  readonly candidates: readonly ModelCandidate[];
  readonly cooldowns: Pick<CooldownTable, 'of'>;
  /** Pairs, by `pairName`, that failed in this question. */
  readonly tried: ReadonlySet<string>;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Who is asked next. `ask`: at once. `wait`: all are left alone, and this one is the first to be back. `none`: all were asked in vain.
 * `hasAlternative`: another pair could be asked at this moment.
 */
export type NextModel =
  | { readonly kind: 'ask'; readonly pair: ModelPair; readonly hasAlternative: boolean }
  | { readonly kind: 'wait'; readonly pair: ModelPair; readonly until: number }
  | { readonly kind: 'none'; readonly backAt: number };

/** The first model in order that is not left alone, with its first such key. Pure. */
export function nextModel(facts: NextModelFacts): NextModel {
  const pairs = facts.candidates.flatMap(pairsOf);
  const untried = pairs.filter((pair) => !facts.tried.has(pairName(pair)));
  const free = untried.filter((pair) => coolsUntil(pair, facts) <= facts.now);
  const [first] = free;
  if (first) return { kind: 'ask', pair: first, hasAlternative: free.length > 1 };
  const soonest = pairs.toSorted((a, b) => coolsUntil(a, facts) - coolsUntil(b, facts))[0];
  if (!soonest) throw new RangeError('a route has at least one model');
  const backAt = coolsUntil(soonest, facts);
  return facts.tried.size === 0 ? { kind: 'wait', pair: soonest, until: backAt } : { kind: 'none', backAt };
}

/** The name of a pair, for the set of those tried. */
export function pairName({ candidate, credential }: ModelPair): string {
  return modelKey(candidate.model, credential);
}

/** A model without keys of its own is one pair. */
export function pairsOf(candidate: ModelCandidate): ModelPair[] {
  return candidate.credentials.length === 0 ? [{ candidate }] : candidate.credentials.map((credential) => ({ candidate, credential }));
}

/** The key of a pair as activities are told of it: a provider's only one need not be named. */
export function keyOf({ candidate, credential }: ModelPair): Pick<ModelPair, 'credential'> {
  return credential === undefined || candidate.credentials.length < 2 ? {} : { credential };
}

/** 0 for a pair that may be asked now. */
function coolsUntil({ candidate, credential }: ModelPair, { cooldowns, now }: NextModelFacts): number {
  return cooldowns.of({ model: candidate.model, credential }, now)?.until ?? 0;
}
