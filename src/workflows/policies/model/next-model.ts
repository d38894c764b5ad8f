import { type CooldownTable, modelKey } from '../../../contracts/models/cooldowns.js';
import type { ModelCandidate } from '../../../contracts/schemas/model-route.js';

/** A model with one of its keys. */
export interface ModelPair {
  readonly candidate: ModelCandidate;
  /** Absent: the provider's first usable key. */
  readonly credential?: string;
}

/** The facts for the choice. */
export interface NextModelFacts {
  readonly candidates: readonly ModelCandidate[];
  readonly cooldowns: Pick<CooldownTable, 'of'>;
  /** Names (`pairName`) of the pairs that failed for this request. */
  readonly tried: ReadonlySet<string>;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * The next model. `ask`: call this pair now. `wait`: all are cooling down, and this pair is available first. `none`: all failed.
 * `hasAlternative`: another pair is available now.
 */
export type NextModel =
  | { readonly kind: 'ask'; readonly pair: ModelPair; readonly hasAlternative: boolean }
  | { readonly kind: 'wait'; readonly pair: ModelPair; readonly until: number }
  | { readonly kind: 'none'; readonly backAt: number };

/** The first model in order that is not cooling down, with its first such key. Pure. */
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

/** The name of a pair, for the set of failed pairs. */
export function pairName({ candidate, credential }: ModelPair): string {
  return modelKey(candidate.model, credential);
}

/** The pairs of a model: one for each key; one for a model without keys. */
export function pairsOf(candidate: ModelCandidate): ModelPair[] {
  return candidate.credentials.length === 0 ? [{ candidate }] : candidate.credentials.map((credential) => ({ candidate, credential }));
}

/** The key of a pair in activity inputs. The only key of a provider is left out. */
export function keyOf({ candidate, credential }: ModelPair): Pick<ModelPair, 'credential'> {
  return credential === undefined || candidate.credentials.length < 2 ? {} : { credential };
}

/** The end of the cooldown in milliseconds since 1970; 0 for an available pair. */
function coolsUntil({ candidate, credential }: ModelPair, { cooldowns, now }: NextModelFacts): number {
  return cooldowns.of({ model: candidate.model, credential }, now)?.until ?? 0;
}
