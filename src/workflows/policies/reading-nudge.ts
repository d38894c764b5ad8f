import { READING_LIMITS } from '../../contracts/limits.js';
import { type Message, type ToolCallPart, textOf, toolCallsOf } from '../../contracts/message.js';
import type { CompletionPolicy } from '../../contracts/policy.js';
import { fileOf } from './answered-calls.js';
import { callSignature } from './call-signature.js';
import type { CompletionFacts } from './completion-checks.js';

/** A nudge for a run that reads and reads. `what` names it for operators. */
export interface ReadingNudge {
  readonly what: string;
  readonly text: string;
}

const [FIRST, SECOND, THIRD] = READING_LIMITS.nudgeAtTurns;

/** Said in this order, each once in a run. */
const LEVELS: readonly { readonly turns: number; readonly text: string }[] = [
  { turns: FIRST, text: `[reading] ${FIRST} turns in a row only read. If you know enough, begin with the change itself.` },
  {
    turns: SECOND,
    text: `[reading] ${SECOND} turns in a row only read, and nothing was changed yet. Make the first edit in your next turn; you can read more after it.`,
  },
  {
    turns: THIRD,
    text: `[reading] ${THIRD} turns in a row only read. Stop reading now: make the change with what you know, or answer and say what keeps you from it.`,
  },
];

/** For a task that is a question nothing has to be edited. */
const QUESTION = `[reading] ${THIRD} turns were spent on reading. If you can answer the question from what you have read, answer it now.`;
const SAME_READ = '[reading] You have read the same part of a file more than once';

/**
 * What to say to a model that reads without editing, after 4, 6 and 8 such turns with rising urgency, each once in a run; a task that
 * is a question gets one gentle word at 8; reading the same part of one file twice gets one. Undefined when there is nothing to say, and
 * for runs whose end needs no edit. What was said is read from the messages themselves: append the text with origin `nudge`.
 */
export function readingNudge(policy: CompletionPolicy, facts: CompletionFacts): ReadingNudge | undefined {
  if (!policy.checks.includes('edits-verified') && !policy.checks.includes('phases-done')) return undefined;
  const said = facts.messages.filter(({ origin }) => origin === 'nudge').map(textOf);
  const reading = readingTurns(policy, facts);
  return nudgeByLength(facts.messages, reading.length, said) ?? nudgeBySameRead(reading, said);
}

function nudgeByLength(messages: readonly Message[], turns: number, said: readonly string[]): ReadingNudge | undefined {
  const levels = isQuestion(messages) ? [{ turns: THIRD, text: QUESTION }] : LEVELS;
  const reached = levels.findLastIndex((level) => turns >= level.turns);
  const lastSaid = levels.findLastIndex(({ text }) => said.includes(text));
  const level = levels[reached];
  return level && reached > lastSaid ? { what: `${level.turns} turns of reading`, text: level.text } : undefined;
}

function nudgeBySameRead(reading: readonly Message[], said: readonly string[]): ReadingNudge | undefined {
  if (said.some((text) => text.startsWith(SAME_READ))) return undefined;
  const times = new Map<string, number>();
  for (const call of reading.flatMap(toolCallsOf)) {
    const file = fileOf(call);
    if (file === undefined) continue;
    const signature = callSignature(call);
    const count = (times.get(signature) ?? 0) + 1;
    times.set(signature, count);
    if (count < READING_LIMITS.sameReadMax) continue;
    return { what: 'the same read again', text: `${SAME_READ} (${file.slice(0, 200)}), and nothing was changed between. It stands above.` };
  }
  return undefined;
}

/** The last turns in which every call only read; a turn that only wrote down its plan is neither here nor there. */
function readingTurns({ planTool }: CompletionPolicy, { messages, effectOf }: CompletionFacts): Message[] {
  const lastOther = messages.findLastIndex((message) => workOf(message, planTool).some(({ name }) => effectOf(name) !== 'read'));
  return messages.slice(lastOther + 1).filter((message) => workOf(message, planTool).length > 0);
}

function workOf(message: Message, planTool: string): ToolCallPart[] {
  return message.role === 'assistant' ? toolCallsOf(message).filter(({ name }) => name !== planTool) : [];
}

/** The first message of a run that a person wrote is its task. */
function isQuestion(messages: readonly Message[]): boolean {
  const task = messages.find(({ role, origin }) => role === 'user' && origin === undefined);
  return task !== undefined && textOf(task).trimEnd().endsWith('?');
}
