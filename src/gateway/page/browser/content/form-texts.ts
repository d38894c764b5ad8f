import { FORM_INSTRUCTION } from '../../../../contracts/json/question-form.js';
import type { PendingQuestion } from '../../../../contracts/schemas/question.js';

/** The texts of a form. */
export interface FormTexts {
  readonly message: string;
  /** What each field takes, by the name of the field. */
  readonly hints: ReadonlyMap<string, string>;
}

/**
 * Splits a question into its message and what each of its fields takes. The question is written for a terminal, with a line for each field.
 * One that is written otherwise is the message as it is. Pure.
 */
export function formTexts({ question, fields = [] }: Pick<PendingQuestion, 'question' | 'fields'>): FormTexts {
  const instruction = `\n${FORM_INSTRUCTION}\n`;
  // the message is a text of a server, and may have such a line too
  const at = question.lastIndexOf(instruction);
  if (at === -1) return { message: question, hints: new Map() };
  const lines = question.slice(at + instruction.length).split('\n');
  const hints = new Map(fields.map(({ name }, index) => [name, hintIn(lines[index], name)] as const));
  if (lines.length !== fields.length || [...hints.values()].includes(undefined)) return { message: question, hints: new Map() };
  return { message: question.slice(0, at), hints: new Map([...hints].map(([name, hint]) => [name, hint ?? ''])) };
}

function hintIn(line: string | undefined, name: string): string | undefined {
  const begin = `${name}: `;
  return line?.startsWith(begin) ? line.slice(begin.length) : undefined;
}
