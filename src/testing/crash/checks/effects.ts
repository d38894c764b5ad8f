import type { ToolResultPart } from '../../../contracts/schemas/message.js';
import type { EffectRecord } from '../child/effect-log.js';
import type { Check, Finding } from './evidence.js';

/**
 * A `once` tool takes effect at most once for each call. Without `reconcile` it starts at most once. With `reconcile` it may start again, but
 * never after it has returned, and it returns at most once.
 */
export const onceAtMostOnce: Check = ({ effects, counted }) => {
  const seen = [...groupBy(effects, ({ key }) => key)].flatMap(([key, records]) => {
    const [first] = records;
    const problem = first?.effect === 'once' ? problemOfOnce(records, first.hasReconcile) : undefined;
    return problem === undefined || !first
      ? []
      : [[key, `${first.tool} ${problem}, for idempotency key ${key}: ${story(records)}`] as const];
  });
  const known = new Set(seen.map(([key]) => key));
  const several = [...(counted ?? [])].filter(([key, count]) => count > 1 && !known.has(key));
  return [
    ...seen.map(([, problem]) => doubled(problem)),
    ...several.map(([key, count]) => doubled(`${count} effects were counted for idempotency key ${key}`)),
  ];
};

/** All starts of a call have the same idempotency key, and no other call has it. */
export const equalKeys: Check = ({ effects }) => {
  const keysOfCalls = [...groupBy(effects, callOf)].map(([call, records]) => [call, new Set(records.map(({ key }) => key))] as const);
  const callsOfKeys = [...groupBy(effects, ({ key }) => key)].map(([key, records]) => [key, new Set(records.map(callOf))] as const);
  return [
    ...keysOfCalls.filter(([, keys]) => keys.size > 1).map(([call, keys]) => doubled(`${call} has the idempotency keys ${join(keys)}`)),
    ...callsOfKeys.filter(([, calls]) => calls.size > 1).map(([key, calls]) => doubled(`key ${key} belongs to ${join(calls)}`)),
  ].map((finding) => ({ ...finding, check: 'equal-keys' }));
};

/** Each successful result of a tool in the transcript comes from a call that returned. */
export const resultsAreReal: Check = ({ transcript, effects, tools }) => {
  const returned = new Set(effects.flatMap(({ what, callId }) => (what === 'end' ? [callId] : [])));
  // `reconcile` may find a call done that noted no end, and a `pure` tool is answered from the transcript
  const checked = new Set(tools.flatMap(({ name, pure, hasReconcile }) => (pure || hasReconcile ? [] : [name])));
  const parts = transcript.flatMap((message) => message.parts);
  const calls = parts.flatMap((part) => (part.type === 'tool_call' && checked.has(part.name) ? [part] : []));
  const succeeded = new Set(parts.flatMap((part) => (isSuccess(part) ? [part.callId] : [])));
  return calls
    .filter(({ callId }) => succeeded.has(callId) && !returned.has(callId))
    .map(({ name, callId }) => ({
      kind: 'lost',
      check: 'results-are-real',
      message: `${name} has a successful result for call ${callId}, and never returned`,
    }));
};

function callOf({ turn, callId }: EffectRecord): string {
  return `turn ${turn}, call ${callId}`;
}

function isSuccess(part: { readonly type: string }): part is ToolResultPart {
  return part.type === 'tool_result' && 'isError' in part && part.isError === false;
}

function problemOfOnce(records: readonly EffectRecord[], hasReconcile: boolean): string | undefined {
  const starts = records.filter(({ what }) => what === 'start');
  const ends = records.filter(({ what }) => what === 'end');
  if (!hasReconcile && starts.length > 1) return `started ${starts.length} times`;
  if (ends.length > 1) return `returned ${ends.length} times`;
  const firstEnd = records.findIndex(({ what }) => what === 'end');
  const startedAgain = firstEnd !== -1 && records.slice(firstEnd).some(({ what }) => what === 'start');
  return startedAgain ? 'started again after it had returned' : undefined;
}

function story(records: readonly EffectRecord[]): string {
  const since = records[0]?.at ?? 0;
  return records.map(({ what, pid, at }) => `${what} +${at - since} ms (pid ${pid})`).join(', ');
}

function doubled(message: string): Finding {
  return { kind: 'doubled', check: 'once-at-most-once', message };
}

function join(names: ReadonlySet<string>): string {
  return [...names].join(' and ');
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
