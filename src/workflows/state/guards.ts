import type { CarriedState } from '../../contracts/schemas/carried-state.js';
import type { JsonValue } from '../../contracts/schemas/message.js';
import type { AnsweredTurn, GuardedTurn, Objection } from '../policies/loop/guard.js';
import { GUARDS } from '../policies/loop/guards.js';

const KINDS_BY_WEIGHT: readonly Objection['kind'][] = ['stop', 'block', 'nudge'];

/** The states of a run's guards. Each guard gets only its own. Continue-as-new carries all of them. */
export class GuardStates {
  readonly #states: Map<string, JsonValue>;

  constructor(carried?: Pick<CarriedState, 'guards' | 'loop' | 'work'>) {
    this.#states = new Map(Object.entries(carried ? { ...carried.guards, ...firstStates(carried) } : {}));
  }

  /** The most severe objection to a turn, before its calls run. */
  judge(turn: GuardedTurn): Objection | undefined {
    const objections = GUARDS.flatMap((guard) => guard.judge(this.#stateOf(guard), turn) ?? []);
    return KINDS_BY_WEIGHT.flatMap((kind) => objections.find((objection) => objection.kind === kind) ?? [])[0];
  }

  /** Updates the state of every guard after a turn. Returns the first nudge, unless the turn had an objection already. */
  remember(turn: AnsweredTurn, objected: boolean): Objection | undefined {
    let first: Objection | undefined;
    for (const guard of GUARDS) {
      const before = this.#stateOf(guard);
      const { state, nudge } = guard.remember(before, turn);
      // a guard whose nudge is not sent keeps its old state, so that it can nudge later
      const isSeen = nudge === undefined || (!objected && first === undefined);
      this.#states.set(guard.name, isSeen ? state : before);
      if (isSeen) first ??= nudge;
    }
    return first;
  }

  /** Updates the guards after a message of a person was delivered. */
  afterMessage(): void {
    for (const guard of GUARDS) if (guard.afterMessage) this.#states.set(guard.name, guard.afterMessage(this.#stateOf(guard)));
  }

  /** The state that continue-as-new carries over. The first two guards have their own fields, which older builds write and read. */
  carry(work: CarriedState['work']): Pick<CarriedState, 'guards' | 'loop' | 'work'> {
    const { loop, reading } = Object.fromEntries(GUARDS.map((guard) => [guard.name, this.#stateOf(guard)]));
    // an initial state is not written, so that an older build can read the rest
    const others = GUARDS.filter(
      (guard) => guard.name !== 'loop' && guard.name !== 'reading' && !isEqual(this.#stateOf(guard), guard.initialState),
    );
    const guards = Object.fromEntries(others.map((guard) => [guard.name, this.#stateOf(guard)]));
    // the states of these two guards have the types of these fields
    const first = { loop: loop as CarriedState['loop'], work: { ...work, told: { ...work.told, ...(reading as object) } } };
    return Object.keys(guards).length === 0 ? first : { ...first, guards };
  }

  #stateOf({ name, initialState }: { readonly name: string; readonly initialState: JsonValue }): JsonValue {
    return this.#states.get(name) ?? initialState;
  }
}

function isEqual(one: JsonValue, other: JsonValue): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function firstStates({ loop, work }: Pick<CarriedState, 'loop' | 'work'>): Readonly<Record<string, JsonValue>> {
  const { readingTurns, sameRead } = work.told;
  return { loop, reading: { readingTurns, sameRead } };
}
