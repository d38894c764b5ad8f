import type { JsonValue } from '../../contracts/schemas/message.js';

/** A step is over under any of these; one that was dropped on purpose needs no more work. */
const OVER: ReadonlySet<string> = new Set(['done', 'completed', 'complete', 'finished', 'cancelled', 'canceled', 'skipped', 'dropped']);

/**
 * The steps that a plan leaves open, each with its status: `write the test (pending)`. Reads the arguments of a person's own plan tool
 * too, as far as their names are common ones; arguments of another shape hold no plan. Never throws.
 */
export function openSteps(args: JsonValue): string[] {
  return stepsOf(args)
    .filter(({ status }) => !OVER.has(status))
    .map(({ text, status }) => `${text} (${status})`);
}

function stepsOf(args: JsonValue): { text: string; status: string }[] {
  if (!isObject(args)) return [];
  const steps = ['steps', 'items', 'plan', 'todos'].map((name) => args[name]).find((value) => Array.isArray(value)) ?? [];
  return steps.filter(isObject).map((step, index) => ({
    text: firstText(step, ['step', 'text', 'content', 'title']) ?? `step ${index + 1}`,
    status: firstText(step, ['status', 'state'])?.toLowerCase() ?? 'pending',
  }));
}

function firstText(step: Readonly<Record<string, JsonValue>>, names: readonly string[]): string | undefined {
  return names.map((name) => step[name]).find((value) => typeof value === 'string');
}

function isObject(value: JsonValue): value is Record<string, JsonValue> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
