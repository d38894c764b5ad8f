import type { PendingQuestion } from '../../../contracts/schemas/question.js';

/** An answer as it counts, or why it is none. */
export type ReadAnswer = { readonly answer: string } | { readonly problem: string };

/** Reads an answer to a question: a text, a choice, or the number of a choice, which is replaced by the choice. Pure; never throws. */
export function readAnswer({ choices, other = false }: Pick<PendingQuestion, 'choices' | 'other'>, given: string): ReadAnswer {
  if (!choices) return { answer: given };
  const choice = choiceOf(choices, given);
  if (choice !== undefined) return { answer: choice };
  return other ? { answer: given } : { problem: `answer with one of: ${numbered(choices)}` };
}

/** The choices with their numbers, in one line. */
export function numbered(choices: readonly string[]): string {
  return choices.map((choice, index) => `${index + 1}. ${choice}`).join(', ');
}

/** A text that is a choice counts as that choice, also if it is a number. */
function choiceOf(choices: readonly string[], given: string): string | undefined {
  const text = given.trim();
  return choices.find((choice) => choice === text) ?? (/^\d{1,3}$/u.test(text) ? choices[Number(text) - 1] : undefined);
}
