import { LOOP_LIMITS } from '../../../contracts/constants/limits.js';
import { NO_LOOPS } from '../../../contracts/initial-state.js';
import type { LoopMemory } from '../../../contracts/schemas/carried-state.js';
import type { Message, ToolCallPart } from '../../../contracts/schemas/message.js';
import type { LoopPolicy, OnLoop } from '../../../contracts/schemas/policy.js';
import { resultSignature, turnShape, turnSignature } from './call-signature.js';
import type { Guard, Objection } from './guard.js';
import { type LoopMeasure, type LoopPattern, measureLoops } from './loop-patterns.js';

/**
 * The verdict about a turn, before its calls run.
 * `nudge`: run them, then add `text` for the model · `block`: the calls at `indexes` are not run, `text` is their result ·
 * `stop`: none runs and the run ends, `text` is the reason. `count` is in turns, the current one included.
 */
export type LoopVerdict =
  | { readonly kind: 'go' }
  | { readonly kind: 'nudge'; readonly pattern: LoopPattern; readonly count: number; readonly text: string }
  | {
      readonly kind: 'block';
      readonly pattern: LoopPattern;
      readonly count: number;
      readonly indexes: readonly number[];
      readonly text: string;
    }
  | { readonly kind: 'stop'; readonly pattern: LoopPattern; readonly count: number; readonly text: string };

/** Begins the result of a blocked call, and distinguishes it from a result of the tool. */
const BLOCKED = '[not run: loop guard]';

/** The loop guard: turns that repeat earlier ones are nudged, then blocked, then end the run. */
export const loopGuard: Guard<LoopMemory> = {
  name: 'loop',
  initialState: NO_LOOPS,
  judge(memory, { turn, calls, policy }) {
    const judged = judgeLoop(memory, calls, policy.loop);
    return judged.kind === 'go' ? undefined : objection(judged, turn, policy.loop);
  },
  remember: (memory, { calls, results }) => ({ state: rememberTurn(memory, calls, results) }),
  // after a message of a person the same call may be intended
  afterMessage: () => NO_LOOPS,
};

function objection(judged: Exclude<LoopVerdict, { kind: 'go' }>, turn: number, { onLoop }: LoopPolicy): Objection {
  const { kind, pattern, count, text } = judged;
  return {
    kind,
    text,
    event: { type: 'loop.detected', turn, pattern, count, action: kind },
    decision: `turn ${turn}: ${pattern}, ${count} times: ${kind}`,
    ...(kind === 'block' ? { indexes: judged.indexes } : {}),
    ...(kind === 'stop' && onLoop === 'error' ? { error: { type: 'Run.LoopDetected', message: `${pattern}, ${count} times` } } : {}),
  };
}

type Action = Exclude<LoopVerdict['kind'], 'go'>;

const GO: LoopVerdict = { kind: 'go' };
const ACTIONS_BY_WEIGHT: readonly Action[] = ['stop', 'block', 'nudge'];

/**
 * Judges a turn before its calls run, as a whole: one repeated call beside others that make progress is no loop; the limit on turns
 * applies to it. Deterministic; never throws.
 */
export function judgeLoop(memory: LoopMemory, calls: readonly ToolCallPart[], policy: LoopPolicy): LoopVerdict {
  const { onLoop } = policy;
  if (onLoop === 'off' || calls.length === 0) return GO;
  const current = { signature: turnSignature(calls), shapes: [turnShape(calls), failedShape(calls)] };
  const measures = measureLoops(memory.turns, current, policy);
  const actions = measures.map((measure) => actionOf(measure, onLoop));
  for (const action of ACTIONS_BY_WEIGHT) {
    const measure = measures[actions.indexOf(action)];
    if (measure) return verdict(action, measure, calls);
  }
  return GO;
}

/**
 * The memory after a turn. A blocked turn counts with the result that its calls had before, because it produced nothing new. Returns a new
 * memory of at most LOOP_LIMITS.memoryTurns turns.
 */
export function rememberTurn(memory: LoopMemory, calls: readonly ToolCallPart[], results: readonly Message[]): LoopMemory {
  if (calls.length === 0) return memory;
  const signature = turnSignature(calls);
  const last = memory.turns.at(-1);
  const again = last?.signature === signature && results.some(isBlocked);
  const turn = again ? last : { signature, shape: shapeOf(calls, results), result: resultSignature(results) };
  return { turns: [...memory.turns, turn].slice(-LOOP_LIMITS.memoryTurns) };
}

function actionOf({ count, nudgeAt, blockAt, stopAt, detectedAt }: LoopMeasure, onLoop: Exclude<OnLoop, 'off'>): Action | undefined {
  if (onLoop === 'error') return count >= detectedAt ? 'stop' : undefined;
  if (onLoop === 'nudge') return count === nudgeAt ? 'nudge' : undefined;
  if (count >= stopAt) return 'stop';
  if (blockAt !== undefined && count >= blockAt) return 'block';
  return count === nudgeAt ? 'nudge' : undefined;
}

/** The shape of a turn. Failed calls are compared by tool only, successful calls by tool and arguments. */
function shapeOf(calls: readonly ToolCallPart[], results: readonly Message[]): string {
  return results.every(isFailed) ? failedShape(calls) : turnShape(calls);
}

function failedShape(calls: readonly ToolCallPart[]): string {
  return turnSignature(calls.map(({ name }) => ({ name, args: null })));
}

function isFailed({ parts }: Message): boolean {
  return parts.some((part) => part.type === 'tool_result' && part.isError);
}

function isBlocked({ parts }: Message): boolean {
  const refusals = parts.flatMap((part) => (part.type === 'tool_result' && part.isError ? part.parts : []));
  return refusals.some((part) => part.type === 'text' && part.text.includes(BLOCKED));
}

function verdict(kind: Action, measure: LoopMeasure, calls: readonly ToolCallPart[]): LoopVerdict {
  const { pattern, count } = measure;
  switch (kind) {
    case 'nudge':
      return { kind, pattern, count, text: nudgeText(measure, calls) };
    case 'block':
      return { kind, pattern, count, indexes: calls.map((_, index) => index), text: blockText(measure) };
    case 'stop':
      return { kind, pattern, count, text: `${describe(measure, calls)}: the run made no progress.` };
  }
}

/** The nudge. The model reads it after the results of the turn, which may have changed, so it is conditional. */
function nudgeText(measure: LoopMeasure, calls: readonly ToolCallPart[]): string {
  const { count, stopAt } = measure;
  const end = stopAt > count ? ` After ${stopAt} such turns the run ends.` : '';
  return (
    `[loop guard] ${describe(measure, calls)}. Unless the last result is new, do not do the same again: use what you already know, ` +
    `try another tool or other arguments, or answer and explain what blocks you.${end}`
  );
}

function blockText({ count, stopAt }: LoopMeasure): string {
  const end = stopAt === count + 1 ? ' The same once more ends the run.' : '';
  return (
    `${BLOCKED} The same call was made in ${count} turns in a row and its result did not change. ` +
    `Do something else: another tool, other arguments, or an answer from what you have that says what is missing.${end}`
  );
}

function describe({ pattern, count }: LoopMeasure, calls: readonly ToolCallPart[]): string {
  const what = namesOf(calls);
  switch (pattern) {
    case 'repeat':
      return `The same calls (${what}) were made in ${count} turns in a row, and their results did not change`;
    case 'alternation':
      return `The last ${count} turns went back and forth between the same two steps (now ${what}), and their results did not change`;
    case 'two-turns':
      return `The last ${count} turns used only the same two steps (now ${what}), and their results did not change`;
    case 'ceiling':
      return `The same calls (${what}) were made in ${count} turns with almost nothing else in between`;
    case 'same-result':
      return `The last ${count} turns called the same tools (${what}) with little difference, and got the same result each time`;
    case 'cycle':
      return `The last ${count} turns (now ${what}) repeated earlier ones with the same results`;
  }
}

/** The tools of a turn, each once, at most five by name. */
function namesOf(calls: readonly ToolCallPart[]): string {
  const names = [...new Set(calls.map(({ name }) => name.slice(0, 64)))];
  return names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ');
}
