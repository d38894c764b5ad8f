import type { ElicitRequestFormParams, PrimitiveSchemaDefinition } from '@modelcontextprotocol/sdk/types.js';
import { ELICITATION_LIMITS, QUESTION_LIMITS } from '../../contracts/constants/limits.js';
import { choiceOf, expected, FORM_INSTRUCTION, type FormValue, readForm } from '../../contracts/json/question-form.js';
import type { QuestionField } from '../../contracts/schemas/question.js';
import { cleanText } from '../../contracts/text/sanitize-text.js';
import type { CallQuestion } from './asking-context.js';

/** What the server gets for an answer. */
export type ElicitedContent = Record<string, string | number | boolean | string[]>;

/** A request of a server as a question for a person. */
export interface ElicitedForm extends Pick<CallQuestion, 'question' | 'choices' | 'fields'> {
  /** The content for an answer that the run accepted. Throws an Error for any other text. */
  contentOf(answer: string): ElicitedContent;
}

/** A field of the form, with the values that its choices stand for. */
interface Field {
  readonly field: QuestionField;
  readonly values: readonly string[];
  readonly about: string;
}

const CONFIRM = 'accept';
const YES_OR_NO = ['yes', 'no'];

/**
 * Reads what a server asks for. Its texts are shown as texts: control characters are removed, and each text has a limit. Throws an Error
 * for a form that is too large or that no person could fill in.
 */
export function readElicitation({ message, requestedSchema }: ElicitRequestFormParams): ElicitedForm {
  const { fieldsMax, messageCharsMax } = ELICITATION_LIMITS;
  const { properties, required = [] } = requestedSchema;
  const entries = Object.entries(properties);
  if (entries.length > fieldsMax) throw new Error(`${entries.length} fields, at most ${fieldsMax}`);
  const text = shown(message, messageCharsMax);
  if (text === '') throw new Error('the message is empty');
  const fields = entries.map(([name, schema]) => fieldOf(name, schema, required.includes(name)));
  const [only, ...others] = fields;
  if (!only) return { question: text, choices: [CONFIRM], contentOf: () => ({}) };
  if (others.length === 0) return singleField(text, only);
  const lines = fields.map(({ field, about }) => `${field.name}: ${expected(field)}${field.required ? '' : ', optional'}${about}`);
  const question = [text, FORM_INSTRUCTION, ...lines].join('\n');
  return asked({ question, fields: fields.map(({ field }) => field) }, fields);
}

/** A question for one value: its answer is the value. */
function singleField(message: string, one: Field): ElicitedForm {
  const { field, about } = one;
  const { name, kind, choices } = field;
  const question = `${message}${about === '' ? '' : `\n${name}${about}`}`;
  if (kind === 'choice' && choices) return asked({ question, choices }, [one]);
  if (kind === 'boolean') return asked({ question, choices: YES_OR_NO }, [one]);
  return asked({ question: `${message}\n${name}: ${expected(field)}${about}`, fields: [field] }, [one]);
}

function asked(question: Pick<CallQuestion, 'question' | 'choices' | 'fields'>, fields: readonly Field[]): ElicitedForm {
  const { length } = question.question;
  const { questionCharsMax } = QUESTION_LIMITS;
  if (length > questionCharsMax) throw new Error(`the question would have ${length} characters, at most ${questionCharsMax}`);
  return { ...question, contentOf: (answer) => contentOf(fields, answer) };
}

function contentOf(fields: readonly Field[], answer: string): ElicitedContent {
  const read = readForm(
    fields.map(({ field }) => field),
    answer,
  );
  if ('problem' in read) throw new Error(read.problem);
  const given = fields.flatMap(({ field, values }) => {
    const value = read.values.get(field.name);
    return value === undefined ? [] : [[field.name, sent(value, field, values)] as const];
  });
  return Object.fromEntries(given);
}

/** A choice is sent as the value that it stands for. */
function sent(value: FormValue, { kind, choices = [] }: QuestionField, values: readonly string[]): string | number | boolean | string[] {
  const valueOf = (choice: string): string => values[choices.indexOf(choice)] ?? choice;
  if (typeof value === 'object') return value.map(valueOf);
  return kind === 'choice' ? valueOf(String(value)) : value;
}

function fieldOf(name: string, schema: PrimitiveSchemaDefinition, required: boolean): Field {
  if (!ELICITATION_LIMITS.namePattern.test(name)) throw new Error(`${JSON.stringify(name.slice(0, 80))} is no name of a field`);
  const { title, description } = schema;
  const texts = [title, description].map((given) => shown(given ?? '', ELICITATION_LIMITS.aboutCharsMax)).filter((text) => text !== '');
  const about = texts.length === 0 ? '' : ` – ${texts.join(': ')}`;
  return { ...kindOf(schema, { name, required }), about };
}

type Named = Pick<QuestionField, 'name' | 'required'>;

function kindOf(schema: PrimitiveSchemaDefinition, named: Named): Pick<Field, 'field' | 'values'> {
  switch (schema.type) {
    case 'boolean':
      return { field: { ...named, kind: 'boolean' }, values: [] };
    case 'number':
    case 'integer':
      return { field: { ...named, kind: schema.type, ...bounds(named, schema.minimum, schema.maximum) }, values: [] };
    case 'array':
      return choiceField({ ...named, kind: 'choices', ...bounds(named, schema.minItems, schema.maxItems) }, choicesIn(schema.items));
    case 'string': {
      const choices = choicesIn(schema);
      if (choices) return choiceField({ ...named, kind: 'choice' }, choices);
      const { minLength, maxLength, format } = schema as Extract<PrimitiveSchemaDefinition, { minLength?: number | undefined }>;
      const field: QuestionField = {
        ...named,
        kind: 'text',
        ...bounds(named, minLength, maxLength),
        ...(format === undefined ? {} : { format }),
      };
      return { field, values: [] };
    }
  }
}

function bounds({ name }: Named, min: number | undefined, max: number | undefined): Pick<QuestionField, 'min' | 'max'> {
  if (min !== undefined && max !== undefined && min > max) throw new Error(`${name}: no value is from ${min} to ${max}`);
  return { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) };
}

/** The choices of a schema, with their values; undefined for a schema without choices. */
interface Choices {
  readonly values: readonly string[];
  readonly titles: readonly string[];
}

/** All ways in which versions of the protocol write choices. */
function choicesIn(schema: object): Choices | undefined {
  const {
    enum: values,
    enumNames,
    oneOf,
    anyOf,
  } = schema as {
    readonly enum?: readonly string[];
    readonly enumNames?: readonly string[];
    readonly oneOf?: readonly { readonly const: string; readonly title: string }[];
    readonly anyOf?: readonly { readonly const: string; readonly title: string }[];
  };
  const titled = oneOf ?? anyOf;
  if (titled) return { values: titled.map((one) => one.const), titles: titled.map(({ title }) => title) };
  return values && { values, titles: enumNames?.length === values.length ? enumNames : values };
}

function choiceField(field: QuestionField, choices: Choices | undefined): Pick<Field, 'field' | 'values'> {
  const { choicesMax, choiceCharsMax } = QUESTION_LIMITS;
  const { values, titles } = choices ?? { values: [], titles: [] };
  if (values.length === 0 || values.length > choicesMax) throw new Error(`${field.name}: ${values.length} choices, 1 to ${choicesMax}`);
  if ((field.min ?? 0) > values.length) throw new Error(`${field.name}: ${field.min} of ${values.length} choices`);
  const texts = titles.map((title) => shown(title, choiceCharsMax));
  const isClear = texts.every((text) => text !== '') && new Set(texts).size === texts.length && texts.every((text) => isSaid(texts, text));
  if (!isClear) throw new Error(`${field.name}: two choices look the same`);
  return { field: { ...field, choices: texts }, values };
}

/** True for a choice that an answer of several can name. */
function isSaid(texts: readonly string[], text: string): boolean {
  return choiceOf(texts, text) === text;
}

/** A text of the server in one line. Characters that control a terminal, or the direction of text, are removed. */
function shown(given: string, charsMax: number): string {
  const text = cleanText(given.slice(0, 4 * charsMax))
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).toWellFormed()}…`;
}
