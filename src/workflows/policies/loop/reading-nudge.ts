import { READING_LIMITS } from '../../../contracts/constants/limits.js';
import { textOf } from '../../../contracts/message-text.js';
import type { WorkRecord } from '../../../contracts/schemas/carried-state.js';
import type { Message } from '../../../contracts/schemas/message.js';
import type { CompletionPolicy } from '../../../contracts/schemas/policy.js';
import type { Guard, Objection } from './guard.js';

/** The reading nudges that were sent, each once in a run. `readingTurns`: the highest level of turns so far. */
export type ReadingMemory = Pick<WorkRecord['told'], 'readingTurns' | 'sameRead'>;

/** The reading guard: a run whose end needs an edit is nudged while it only reads. */
export const readingGuard: Guard<ReadingMemory> = {
  name: 'reading',
  initialState: { readingTurns: 0, sameRead: false },
  judge: () => undefined,
  remember(state, { turn, policy, work, task }) {
    // nothing is recorded for a run whose end is not checked
    if (work.calls === 0) return { state };
    const reading = readingNudge(policy.completion, { work: { ...work, told: { ...work.told, ...state } }, task });
    if (!reading) return { state };
    const { text, what, told } = reading;
    const event = { type: 'notice', text: `turn ${turn}: ${what}` } as const;
    const nudge: Objection = { kind: 'nudge', text, event, decision: `turn ${turn}: nudged (${what})` };
    return { state: { readingTurns: told.readingTurns, sameRead: told.sameRead }, nudge };
  },
};

/** A nudge for a run that only reads. `what` names it for operators. `told`: the record of nudges that includes this one. */
export interface ReadingNudge {
  readonly what: string;
  readonly text: string;
  readonly told: WorkRecord['told'];
}

/** The facts for the decision. */
export interface ReadingFacts {
  readonly work: WorkRecord;
  readonly task: Message | undefined;
}

const [FIRST, SECOND, THIRD] = READING_LIMITS.nudgeAtTurns;

/** The nudges in order, each sent once in a run. */
const LEVELS: readonly { readonly turns: number; readonly text: string }[] = [
  { turns: FIRST, text: `[reading] ${FIRST} turns in a row only read. If you know enough, begin with the change itself.` },
  {
    turns: SECOND,
    text: `[reading] ${SECOND} turns in a row only read, and nothing was changed yet. Make the first edit in your next turn; you can read more after it.`,
  },
  {
    turns: THIRD,
    text: `[reading] ${THIRD} turns in a row only read. Stop reading now: make the change with what you know, or answer and explain why you cannot.`,
  },
];

/** The nudge for a task that is a question, which needs no edit. */
const FOR_A_QUESTION: typeof LEVELS = [
  {
    turns: THIRD,
    text: `[reading] ${THIRD} turns were spent on reading. If you can answer the question from what you have read, answer it now.`,
  },
];

/**
 * The nudge for a model that reads without editing: after 4, 6 and 8 such turns, each once in a run. A task that is a question gets one
 * nudge, after 8 turns. Reading the same part of a file twice gets one nudge. Undefined when no nudge is due, and for policies without the
 * checks `edits-verified` and `phases-done`. The caller stores `told`.
 */
export function readingNudge(policy: CompletionPolicy, facts: ReadingFacts): ReadingNudge | undefined {
  if (!policy.checks.includes('edits-verified') && !policy.checks.includes('phases-done')) return undefined;
  return nudgeByLength(facts) ?? nudgeBySameRead(facts.work);
}

function nudgeByLength({ work: { reading, told }, task }: ReadingFacts): ReadingNudge | undefined {
  const levels = isQuestion(task) ? FOR_A_QUESTION : LEVELS;
  const level = levels.findLast(({ turns }) => reading.turns >= turns);
  if (!level || level.turns <= told.readingTurns) return undefined;
  return { what: `${level.turns} turns of reading`, text: level.text, told: { ...told, readingTurns: level.turns } };
}

function nudgeBySameRead({ reading, told }: WorkRecord): ReadingNudge | undefined {
  const again = reading.reads.find(({ times }) => times >= READING_LIMITS.sameReadMax);
  if (!again || told.sameRead) return undefined;
  const text = `[reading] You have read the same part of a file more than once (${again.file}), and nothing was changed in between. Note what you need from it.`;
  return { what: 'the same read again', text, told: { ...told, sameRead: true } };
}

function isQuestion(task: Message | undefined): boolean {
  return task !== undefined && textOf(task).trimEnd().endsWith('?');
}
