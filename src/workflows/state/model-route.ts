import type { PreparedRun } from '../../contracts/activities.js';
import { FAILOVER_LIMITS } from '../../contracts/constants/limits.js';
import { CooldownTable } from '../../contracts/models/cooldowns.js';
import type { CarriedState } from '../../contracts/schemas/carried-state.js';
import type { ThinkingSetting } from '../../contracts/schemas/model.js';
import type { ModelCandidate, ModelSwitch } from '../../contracts/schemas/model-route.js';
import type { CoolingModel } from '../../contracts/schemas/run.js';
import { type ModelPair, type NextModel, nextModel, pairsOf } from '../policies/model/next-model.js';

/** The models of a run, their cooldowns, and the current model. */
export class ModelRoute {
  #candidates: readonly ModelCandidate[];
  #changed: boolean;
  #preferred: string | undefined;
  readonly cooldowns: CooldownTable;
  readonly switches: ModelSwitch[];
  /** The model of the last call; before the first call, the first of the route. */
  model: string;
  /** Set after an empty answer (`thinkingOffWhenEmpty`): thinking stays off for the rest of the run, or until `/think`. */
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

  /** The candidate of the current model. */
  get current(): ModelCandidate {
    const [first] = this.#candidates;
    const found = this.#candidates.find(({ model }) => model === this.model) ?? first;
    if (!found) throw new RangeError('a route has at least one model');
    return found;
  }

  /** The thinking setting of the current model; undefined: the model's own default. */
  get thinking(): ThinkingSetting | undefined {
    return this.thinkingOff ? 'off' : this.current.thinking;
  }

  /** True when the route has more than one model or key. */
  get hasChoice(): boolean {
    return this.#candidates.flatMap(pairsOf).length > 1;
  }

  /** True when the current model is not the first of the route. `/model` puts its model first, so it does not count. */
  get hasFailedOver(): boolean {
    return this.model !== this.#candidates[0]?.model;
  }

  next(tried: ReadonlySet<string>, now: number, candidates = this.#candidates): NextModel {
    return nextModel({ candidates, cooldowns: this.cooldowns, tried, now });
  }

  /** The model and key that the next request is expected to use. */
  expected(now: number): ModelPair {
    const next = this.next(new Set(), now);
    return next.kind === 'none' ? { candidate: this.current } : next.pair;
  }

  /** Switches to this model. Returns the switch; undefined when it is the current model. */
  switchTo(model: string, turn: number, why: string): ModelSwitch | undefined {
    if (model === this.model) return undefined;
    const change = { turn, from: this.model, to: model, why };
    this.model = model;
    this.switches.push(change);
    this.switches.splice(0, Math.max(0, this.switches.length - FAILOVER_LIMITS.switchesKept));
    return change;
  }

  /** True once for a model that a message has just selected: cooldowns reported by other runs do not apply to it then. */
  takePreference(model: string): boolean {
    const isPreferred = this.#preferred === model;
    this.#preferred = undefined;
    return isPreferred;
  }

  /** Puts a model first that a message selected. The others follow, up to the maximum of fallbacks. */
  prefer(candidate: ModelCandidate): void {
    const others = this.#candidates.filter(({ model }) => model !== candidate.model);
    this.#candidates = [candidate, ...others.slice(0, FAILOVER_LIMITS.fallbacksMax)];
    this.#changed = true;
    // an explicit selection ends its cooldowns
    for (const { credential } of pairsOf(candidate)) this.cooldowns.answered({ model: candidate.model, credential });
    this.#preferred = candidate.model;
  }

  /** Sets the thinking level that a message selected: for this model, and the nearest level for the others. */
  think(changed: ModelCandidate): void {
    const { thinking } = changed;
    this.#candidates = this.#candidates.map((before) => {
      if (before.model === changed.model) return changed;
      // a level that a model does not support is mapped to the nearest one when the request is built
      return thinking === undefined ? before : { ...before, thinking };
    });
    this.#changed = true;
    this.thinkingOff = false;
  }

  /**
   * Why the run switches away from `model`: the failure behind its cooldown, or `cooled down` when a preferred model is available again.
   */
  switchReason(model: string, now: number): string {
    const pairs = this.#candidates.filter((candidate) => candidate.model === model).flatMap(pairsOf);
    const held = pairs.flatMap(({ credential }) => this.cooldowns.of({ model, credential }, now) ?? []);
    return held[0]?.why ?? 'cooled down';
  }

  /** The models and keys that are cooling down at `now` (milliseconds since 1970). */
  cooling(now: number): CoolingModel[] {
    return this.#candidates.flatMap(pairsOf).flatMap(({ candidate: { model }, credential }) => {
      const cooldown = this.cooldowns.of({ model, credential }, now);
      if (!cooldown) return [];
      const until = new Date(cooldown.until).toISOString();
      return [{ model, ...(credential === undefined ? {} : { credential }), until, why: cooldown.why }];
    });
  }

  /** The state that continue-as-new carries over. */
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

/** The candidate of a run that an older version prepared: one model, whose keys are looked up in each call. */
function legacyCandidate({ model, contextWindow, price }: PreparedRun): ModelCandidate {
  return { model, credentials: [], contextWindow, ...(price ? { price } : {}) };
}
