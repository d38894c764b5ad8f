import { choiceOf, numbered, readForm } from '../../../contracts/json/question-form.js';
import type { PendingQuestion } from '../../../contracts/schemas/question.js';

/** An answer as it counts, or why it is none. */
export type ReadAnswer = { readonly answer: string } | { readonly problem: string };

/**
 * Reads an answer to a question: a text, the values of its fields, a choice, or the number of a choice, which is replaced by the choice.
 * Pure; never throws.
 */
export function readAnswer(
  { choices, other = false, fields }: Pick<PendingQuestion, 'choices' | 'other' | 'fields'>,
  given: string,
): ReadAnswer {
  if (fields) {
    const read = readForm(fields, given);
    return 'problem' in read ? read : { answer: given };
  }
  if (!choices) return { answer: given };
  const choice = choiceOf(choices, given);
  if (choice !== undefined) return { answer: choice };
  return other ? { answer: given } : { problem: `answer with one of: ${numbered(choices)}` };
}
