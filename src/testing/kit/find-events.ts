import { AssertionError } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';
import type { RunEvent } from '../../contracts/event.js';

/** Fields that an event must have. Objects inside are compared whole. */
export type EventPattern<Type extends RunEvent['type'] = RunEvent['type']> = { readonly type: Type } & {
  readonly [Key in keyof EventOf<Type>]?: EventOf<Type>[Key];
};

type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { readonly type: Type }>;

/**
 * The events that have all fields of the pattern, in order. They have the type of the pattern's `type`. A plain function, so that it works
 * with every test runner.
 */
export function findEvents<Type extends RunEvent['type']>(events: readonly RunEvent[], pattern: EventPattern<Type>): EventOf<Type>[] {
  const fits = (event: RunEvent): event is EventOf<Type> =>
    Object.entries(pattern).every(([key, value]) => isDeepStrictEqual(Reflect.get(event, key), value));
  return events.filter(fits);
}

/** The first event that has all fields of the pattern. Throws an AssertionError that lists the events of the run if there is none. */
export function expectEvent<Type extends RunEvent['type']>(events: readonly RunEvent[], pattern: EventPattern<Type>): EventOf<Type> {
  const [found] = findEvents(events, pattern);
  if (found) return found;
  const lines = events.map(({ seq: _seq, at: _at, ...event }) => `  ${JSON.stringify(event)}`);
  const message = `no event ${JSON.stringify(pattern)}; the ${events.length} events are:\n${lines.join('\n')}`;
  throw new AssertionError({ message, expected: pattern, actual: events, operator: 'expectEvent', stackStartFn: expectEvent });
}
