import type { PreparedRun } from '../../contracts/activities.js';
import { FAILOVER_LIMITS } from '../../contracts/constants/limits.js';
import { CooldownTable } from '../../contracts/models/cooldowns.js';
import type { CarriedState } from '../../contracts/schemas/carried-state.js';
import type { ThinkingSetting } from '../../contracts/schemas/model.js';
import type { ModelCandidate, ModelSwitch } from '../../contracts/schemas/model-route.js';
import type { CoolingModel } from '../../contracts/schemas/run.js';
import { type ModelPair, type NextModel, nextModel, pairsOf } from '../policies/model/next-model.js';

/** The models that a run may ask, which of them are left alone for a while, and which one it is with. */
export class ModelRoute {
  #candidates: readonly ModelCandidate[];
  #changed: boolean;
  #wanted: string | undefined;
  readonly cooldowns: CooldownTable;
  readonly switches: ModelSwitch[];
  /** The model asked last; the first of the route before any was. */
  model: string;
  /** Set once thinking did harm: it stays off for the rest of the run. */
  thinkingOff: boolean;

  constructor(prepared: PreparedRun, carried?: CarriedState['route']) {
    this.#candidates = carried?.candidates ?? prepared.route ?? [legacyCandidate(prepared)];
    this.#changed = carried?.candidates !== undefined;
    this.cooldowns = new CooldownTable(carried?.cooldowns);
    this.switches = [...(carried?.switches ?? [])];
    this.model = carried?.current ?? prepared.model;
    this.thinkingOff = carried?.thinkingOff ?? false;
  }

  get candidates(): readonly ModelCandidate[] {
    return this.#candidates;
  }

  /** What is known of the model that the run is with. */
  get current(): ModelCandidate {
    const [first] = this.#candidates;
    const found = this.#candidates.find(({ model }) => model === this.model) ?? first;
    if (!found) throw new RangeError('a route has at least one model');
    return found;
  }

  /** How much the model that the run is with thinks; undefined: what it does by itself. */
  get thinking(): ThinkingSetting | undefined {
    return this.thinkingOff ? 'off' : this.current.thinking;
  }

  /** There is another model, or another key, to go to. */
  get hasChoice(): boolean {
    return this.#candidates.flatMap(pairsOf).length > 1;
  }

  /** The run is with another model than its first one, and not because a person wanted that. */
  get hasFailedOver(): boolean {
    return this.model !== this.#candidates[0]?.model;
  }

  next(tried: ReadonlySet<string>, now: number, candidates = this.#candidates): NextModel {
    return nextModel({ candidates, cooldowns: this.cooldowns, tried, now });
  }

  /** Whom the next request goes to, if nothing happens before. */
  expected(now: number): ModelPair {
    const next = this.next(new Set(), now);
    return next.kind === 'none' ? { candidate: this.current } : next.pair;
  }

  /** The run is with this model from now on; gives the change, if it is one. */
  goTo(model: string, turn: number, why: string): ModelSwitch | undefined {
    if (model === this.model) return undefined;
    const change = { turn, from: this.model, to: model, why };
    this.model = model;
    this.switches.push(change);
    this.switches.splice(0, Math.max(0, this.switches.length - FAILOVER_LIMITS.switchesKept));
    return change;
  }

  /** True once for a model that a person has just asked for: what other runs found out about it does not count then. */
  takeWish(model: string): boolean {
    const isWanted = this.#wanted === model;
    this.#wanted = undefined;
    return isWanted;
  }

  /** A person wants this model first; the others stay behind it, as many as a route may have. */
  prefer(candidate: ModelCandidate): void {
    const others = this.#candidates.filter(({ model }) => model !== candidate.model);
    this.#candidates = [candidate, ...others.slice(0, FAILOVER_LIMITS.fallbacksMax)];
    this.#changed = true;
    // who wants it now wants it asked, whatever it failed before
    for (const { credential } of pairsOf(candidate)) this.cooldowns.answered({ model: candidate.model, credential });
    this.#wanted = candidate.model;
  }

  /** A person wants more or less thinking: of this model, and of the others as near as they can. */
  think(asked: ModelCandidate): void {
    const { thinking } = asked;
    this.#candidates = this.#candidates.map((before) => {
      if (before.model === asked.model) return asked;
      // a level that a model does not have is mapped to the nearest one when it is asked
      return thinking === undefined ? before : { ...before, thinking };
    });
    this.#changed = true;
    this.thinkingOff = false;
  }

  /** Why the model asked next is another one: what keeps the one before away, or nothing any more. */
  whyLeave(model: string, now: number): string {
    const pairs = this.#candidates.filter((candidate) => candidate.model === model).flatMap(pairsOf);
    const held = pairs.flatMap(({ credential }) => this.cooldowns.of({ model, credential }, now) ?? []);
    return held[0]?.why ?? 'cooled down';
  }

  /** Whom the run does not ask for a while. */
  cooling(now: number): CoolingModel[] {
    return this.#candidates.flatMap(pairsOf).flatMap(({ candidate: { model }, credential }) => {
      const cooldown = this.cooldowns.of({ model, credential }, now);
      if (!cooldown) return [];
      const until = new Date(cooldown.until).toISOString();
      return [{ model, ...(credential === undefined ? {} : { credential }), until, why: cooldown.why }];
    });
  }

  /** What continue-as-new takes along. */
  carry(): Pick<CarriedState['route'], 'candidates' | 'cooldowns' | 'current' | 'switches' | 'thinkingOff'> {
    return {
      ...(this.#changed ? { candidates: [...this.#candidates] } : {}),
      cooldowns: this.cooldowns.carry(),
      current: this.model,
      switches: this.switches,
      ...(this.thinkingOff ? { thinkingOff: true } : {}),
    };
  }
}

/** Runs that older versions prepared have one model, and its keys are looked up when it is called. */
function legacyCandidate({ model, contextWindow, price }: PreparedRun): ModelCandidate {
  return { model, credentials: [], contextWindow, ...(price ? { price } : {}) };
}
