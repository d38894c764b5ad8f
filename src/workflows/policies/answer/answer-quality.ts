import { textOf } from '../../../contracts/message-text.js';
import type { Message } from '../../../contracts/schemas/message.js';
import { announcesWork } from './announced-work.js';
import { leakedMarkup } from './leaked-markup.js';

/**
 * The quality of an answer without tool calls. `signal`: a usable answer · `noise`: not an answer · `stall`: it announces work instead of
 * doing it. `what` names the finding for operators; `correction` is the text for the model.
 */
export type AnswerQuality =
  | { readonly kind: 'signal' }
  | { readonly kind: 'noise'; readonly what: string; readonly correction: string }
  | { readonly kind: 'stall'; readonly what: string; readonly correction: string };

/** The facts beside the answer. */
export interface QualityContext {
  /** Answers in a row without a call, this one included. */
  readonly turnsWithoutCalls: number;
  /** The text-only answer right before this one. */
  readonly previousText?: string;
  /** The names of the offered tools. With an empty list no answer is a stall, and no JSON is a call. */
  readonly tools?: readonly string[];
}

/** A repetition has at least this many repeats and characters. Shorter ones are answers ("ha ha ha"). */
const REPETITIONS_MIN = 10;
const REPETITION_CHARS_MIN = 60;
/** The number of characters searched for repetition. */
const REPETITION_CHARS_READ = 20_000;

const SIGNAL: AnswerQuality = { kind: 'signal' };

/** The checks, in order. The first finding is the result. */
const CHECKS: readonly ((text: string, context: QualityContext) => AnswerQuality | undefined)[] = [
  lookForMarkup,
  lookForRepetition,
  lookForStall,
];

/**
 * Judges the text of an answer without tool calls. In doubt it is a signal. So is an empty text, which `judgeAnswer` handles, and a text
 * that the model repeats word for word after a correction. Never throws.
 */
export function judgeQuality(message: Message, context: QualityContext): AnswerQuality {
  const text = textOf(message).trim();
  if (text === '') return SIGNAL;
  for (const look of CHECKS) {
    const found = look(text, context);
    if (found) return found;
  }
  return SIGNAL;
}

function lookForMarkup(text: string, { tools }: QualityContext): AnswerQuality | undefined {
  const what = leakedMarkup(text, tools);
  if (what === undefined) return undefined;
  const correction =
    `Your last answer contained a tool call written as text (${what}), so nothing was called. Make the call through the tool interface. ` +
    'If the text was meant to be read, say so in a sentence and put the markup into a code block.';
  return { kind: 'noise', what: `leaked ${what}`, correction };
}

function lookForRepetition(text: string, { previousText }: QualityContext): AnswerQuality | undefined {
  if (text === previousText?.trim() || !isRepetition(text)) return undefined;
  const correction = 'Your last answer only repeated the same text over and over. Answer the task in your own words, once.';
  return { kind: 'noise', what: 'repetition', correction };
}

function lookForStall(text: string, { previousText, tools, turnsWithoutCalls }: QualityContext): AnswerQuality | undefined {
  if (text === previousText?.trim() || tools?.length === 0 || !announcesWork(text)) return undefined;
  const again = turnsWithoutCalls > 1 ? ` These were ${turnsWithoutCalls} answers in a row without a call.` : '';
  const correction =
    `You said what you are about to do, but called no tool, so nothing happened.${again} Do it now with a tool call. ` +
    'If the task is done, or cannot be done, say that as your final answer.';
  return { kind: 'stall', what: 'announced work', correction };
}

/** True when a text repeats one short piece. White space is ignored. */
function isRepetition(text: string): boolean {
  const read = text.slice(0, REPETITION_CHARS_READ).replaceAll(/\s+/gu, ' ');
  return read.length >= REPETITION_CHARS_MIN && periodOf(read) * REPETITIONS_MIN <= read.length;
}

/** Length of the shortest piece that the whole text repeats, its last time perhaps cut: the prefix function of Knuth, Morris and Pratt. */
function periodOf(text: string): number {
  const border = [0];
  for (let end = 1; end < text.length; end += 1) {
    let length = border[end - 1] ?? 0;
    while (length > 0 && text[end] !== text[length]) length = border[length - 1] ?? 0;
    border.push(text[end] === text[length] ? length + 1 : 0);
  }
  return text.length - (border.at(-1) ?? 0);
}
