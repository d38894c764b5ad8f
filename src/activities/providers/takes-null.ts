import { type JsonSchema, resolveRef, schemasIn } from '../../providers/schema/json-schema.js';

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
