import type { JsonValue, Message } from '../../../../contracts/schemas/message.js';

/** A step of the plan of a run. */
export interface PlanStep {
  readonly step: string;
  readonly status: 'pending' | 'in_progress' | 'done';
}

/** The plan of a run: that of its last valid call of `update_plan`. Empty without one. Pure. */
export function planOf(messages: readonly Message[]): readonly PlanStep[] {
  const calls = messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool_call' && part.name === 'update_plan' ? [part.args] : [])),
  );
  return calls.map(stepsIn).findLast((steps) => steps.length > 0) ?? [];
}

function stepsIn(args: JsonValue): readonly PlanStep[] {
  const steps = isObject(args) ? args['steps'] : undefined;
  return Array.isArray(steps) ? steps.flatMap(stepOf) : [];
}

function stepOf(value: JsonValue): PlanStep[] {
  if (!isObject(value)) return [];
  const { step, status } = value;
  if (typeof step !== 'string') return [];
  return [{ step, status: status === 'done' || status === 'in_progress' ? status : 'pending' }];
}

function isObject(value: JsonValue): value is Record<string, JsonValue> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
