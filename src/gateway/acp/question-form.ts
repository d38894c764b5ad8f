import type { CreateElicitationResponse, ElicitationPropertySchema, ElicitationSchema, PermissionOption } from '@agentclientprotocol/sdk';
import { numbered } from '../../contracts/json/question-form.js';
import type { PendingQuestion, QuestionField } from '../../contracts/schemas/question.js';
import { cleanText } from '../../contracts/text/sanitize-text.js';

/** The field of a form that holds the answer to a question without fields. */
const ANSWER = 'answer';

/** The form of a question, for an editor that shows forms. */
export function questionForm({ choices, other, fields }: PendingQuestion): ElicitationSchema {
  if (fields) {
    const properties = Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field)]));
    return { type: 'object', properties, required: fields.filter(({ required }) => required).map(({ name }) => name) };
  }
  const isClosed = choices !== undefined && !other;
  const description = choices && other ? { description: numbered(choices) } : {};
  return {
    type: 'object',
    properties: { [ANSWER]: { type: 'string', title: 'Answer', ...(isClosed ? { enum: [...choices] } : description) } },
    required: [ANSWER],
  };
}

/** The answer in a form that was filled in. Undefined for a form that was declined. */
export function formAnswer({ fields }: Pick<PendingQuestion, 'fields'>, response: CreateElicitationResponse): string | undefined {
  if (response.action !== 'accept') return undefined;
  // an unknown action has any fields
  const content = 'content' in response && typeof response.content === 'object' ? (response.content ?? {}) : {};
  const [only, ...others] = fields ?? [{ name: ANSWER }];
  if (only === undefined || others.length > 0) return JSON.stringify(content);
  const value: unknown = Reflect.get(content, only.name);
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'string' ? value : JSON.stringify(value ?? '');
}

/** The question as buttons, for an editor without forms. Undefined for one that needs a text. */
export function questionButtons({ choices, other, fields }: PendingQuestion): PermissionOption[] | undefined {
  if (!choices || other || fields) return undefined;
  return [
    ...choices.map((choice, index): PermissionOption => ({ optionId: String(index + 1), name: choice, kind: 'allow_once' })),
    { optionId: DECLINE, name: 'Decline to answer', kind: 'reject_once' },
  ];
}

/** The button that declines a question. */
export const DECLINE = 'decline';

/** The question as text, for an editor that shows neither. The next prompt is the answer. */
export function questionText({ question, choices, fields }: PendingQuestion): string {
  const form = fields ? `\n\nAnswer with a line NAME=VALUE for each of: ${fields.map(({ name }) => name).join(', ')}.` : '';
  return `${cleanText(question)}${choices ? `\n\n${cleanText(numbered(choices))}` : ''}${fields && fields.length > 1 ? form : ''}`;
}

function fieldSchema({ kind, choices = [], format, min, max }: QuestionField): ElicitationPropertySchema {
  switch (kind) {
    case 'text':
      return { type: 'string', ...(format ? { format } : {}), ...given('minLength', min), ...given('maxLength', max) };
    case 'number':
    case 'integer':
      return { type: kind, ...given('minimum', min), ...given('maximum', max) };
    case 'boolean':
      return { type: 'boolean' };
    case 'choice':
      return { type: 'string', enum: [...choices] };
    case 'choices':
      return { type: 'array', items: { type: 'string', enum: [...choices] }, ...given('minItems', min), ...given('maxItems', max) };
  }
}

function given<Name extends string>(name: Name, value: number | undefined): { readonly [Key in Name]?: number } {
  // the computed name is the type parameter
  return value === undefined ? {} : ({ [name]: value } as { [Key in Name]: number });
}
