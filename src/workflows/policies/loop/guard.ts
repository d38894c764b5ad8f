import type { RunEventBody } from '../../../contracts/event.js';
import type { WorkRecord } from '../../../contracts/schemas/carried-state.js';
import type { JsonValue, Message, ToolCallPart } from '../../../contracts/schemas/message.js';
import type { RunPolicy } from '../../../contracts/schemas/policy.js';

/** The calls of one answer, and the facts by which a guard judges them. */
export interface GuardedTurn {
  readonly turn: number;
  readonly calls: readonly ToolCallPart[];
  readonly policy: RunPolicy;
  readonly work: WorkRecord;
  /** The run's own task. */
  readonly task: Message | undefined;
}

/** A turn with the results of its calls. `work` includes them. */
export interface AnsweredTurn extends GuardedTurn {
  readonly results: readonly Message[];
}

/**
 * The objection of a guard to a turn, with its event and decision for operators.
 * `nudge`: the calls run, then `text` is added for the model · `block`: the calls at `indexes` do not run, `text` is their result ·
 * `stop`: no call runs, and the run ends with `loop_detected`, or with `error` where the policy sets it.
 */
export interface Objection {
  readonly kind: 'nudge' | 'block' | 'stop';
  readonly text: string;
  readonly event: RunEventBody;
  readonly decision: string;
  readonly indexes?: readonly number[];
  readonly error?: { readonly type: string; readonly message: string };
}

/**
 * One guard over a run's tool calls, with its state.
 * Contract: pure and deterministic, never throws. The state is JSON of limited size. Continue-as-new carries it under the guard's name, so
 * a name is never reused for a different shape, and a new field must be optional.
 */
export interface Guard<State extends JsonValue> {
  readonly name: string;
  readonly initialState: State;
  /** Judges a turn before its calls run. */
  judge(state: State, turn: GuardedTurn): Objection | undefined;
  /** The state after the turn, and at most one nudge. If the nudge is not sent, because another guard objected, the old state stays. */
  remember(state: State, turn: AnsweredTurn): { readonly state: State; readonly nudge?: Objection };
  /** The state after a message of a person was delivered. @default unchanged */
  afterMessage?(state: State): State;
}
