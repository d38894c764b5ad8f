import type { JsonValue } from '../../contracts/schemas/message.js';
import { choicesOf, type JsonSchema, resolveRef, schemaIn, schemasIn } from './json-schema.js';

/**
 * Arguments without the nulls that stand for properties left out, as strict mode makes a model write them: a null goes where the tool's
 * own schema lets the property be absent and takes no null. All else is as it was. Never throws.
 */
export function dropNulls(args: JsonValue, schema: JsonSchema): JsonValue {
  return without(args, choicesOf([schema], schema), schema);
}

/** `choices` are all that the value may be: found once for all items of a list. */
function without(value: JsonValue, choices: ReadonlySet<JsonSchema>, root: JsonSchema): JsonValue {
  if (value === null || typeof value !== 'object') return value;
  const shapes = [...choices];
  if (Array.isArray(value)) {
    const items = shapes.map((shape) => schemaIn(shape['items'])).filter((shape) => shape !== undefined);
    const choicesOfItems = choicesOf(items, root);
    return value.map((item) => without(item, choicesOfItems, root));
  }
  const members = Object.entries(value).flatMap(([name, member]) => {
    const properties = shapes.flatMap((shape) => propertyIn(shape, name));
    if (member === null && standsForNothing(properties, root)) return [];
    if (member === null || typeof member !== 'object') return [[name, member] as const];
    const schemas = properties.map(({ schema }) => schema);
    return [[name, without(member, choicesOf(schemas, root), root)] as const];
  });
  return Object.fromEntries(members);
}

interface Property {
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

function propertyIn(shape: JsonSchema, name: string): Property[] {
  const properties = schemaIn(shape['properties']) ?? {};
  if (!Object.hasOwn(properties, name)) return [];
  const required = Array.isArray(shape['required']) ? shape['required'] : [];
  return [{ schema: schemaIn(properties[name]) ?? {}, isRequired: required.includes(name) }];
}

/** Among several shapes nobody knows which was meant: absent is taken where all let it be, and null where one of them must have it. */
function standsForNothing(properties: readonly Property[], root: JsonSchema): boolean {
  const takers = properties.filter(({ schema }) => takesNull(schema, root));
  const optional = properties.filter(({ isRequired }) => !isRequired);
  if (optional.length === 0 || takers.length === properties.length) return false;
  return optional.length === properties.length || takers.length === 0;
}

type Answers = WeakMap<JsonSchema, boolean>;

const answersOf = new WeakMap<JsonSchema, Answers>();

/**
 * Is null among the values that a schema takes, by itself or by what it refers to and lets choose from? Within a root each schema is
 * looked at once, however many lead to it: neither may change afterwards.
 */
export function takesNull(schema: JsonSchema, root: JsonSchema): boolean {
  const answers = answersOf.get(root) ?? new WeakMap<JsonSchema, boolean>();
  answersOf.set(root, answers);
  const first = resolveRef(schema, root);
  if (!first) return false;
  if (!answers.has(first)) findAnswers(first, root, answers);
  return answers.get(first) === true;
}

/** Looks at all that a schema leads to, then goes back from those that take null: who leads there takes it too, circles or not. */
function findAnswers(first: JsonSchema, root: JsonSchema, answers: Answers): void {
  const takers: JsonSchema[] = [];
  const leadingTo = new Map<JsonSchema, JsonSchema[]>([[first, []]]);
  // a map that grows while it is walked is walked to its new end
  for (const schema of leadingTo.keys()) {
    if (isNullable(schema)) takers.push(schema);
    for (const choice of choicesIn(schema, root)) {
      if (answers.get(choice) === true) takers.push(schema);
      if (answers.has(choice)) continue;
      const leaders = leadingTo.get(choice) ?? [];
      leadingTo.set(choice, leaders);
      leaders.push(schema);
    }
  }
  for (const schema of leadingTo.keys()) answers.set(schema, false);
  for (let taker = takers.pop(); taker; taker = takers.pop()) {
    if (answers.get(taker) === true) continue;
    answers.set(taker, true);
    for (const leader of leadingTo.get(taker) ?? []) takers.push(leader);
  }
}

function choicesIn({ anyOf, oneOf }: JsonSchema, root: JsonSchema): readonly JsonSchema[] {
  const choices = [...schemasIn(anyOf), ...schemasIn(oneOf)].map((choice) => resolveRef(choice, root));
  return choices.filter((choice) => choice !== undefined);
}

/** Said of a schema itself; of its choices each is asked for itself. */
function isNullable({ type, enum: values, const: constant, anyOf, oneOf }: JsonSchema): boolean {
  if (constant !== undefined) return constant === null;
  if (Array.isArray(values)) return values.includes(null);
  if (type !== undefined) return [type].flat().includes('null');
  return anyOf === undefined && oneOf === undefined;
}
