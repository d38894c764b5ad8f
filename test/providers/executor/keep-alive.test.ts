import { expect, it } from 'vitest';
import { type KeepOptions, keepWhile } from '../../../src/providers/executor/keep-alive.js';
import { latch, until } from '../../support/use-workers.js';

const HOUR_MS = 3_600_000;

it('what is kept is looked after until it is over, then ended once', async () => {
  const { options, seen } = watched({ isOver: async () => seen.looks === 3 });
  keepWhile(options);
  await until(() => seen.ends > 0, 'the end');
  expect(seen).toEqual({ looks: 3, ends: 1 });
});

it('its time ends it too, also between two looks', async () => {
  const { options, seen } = watched({ ms: 20, lookEveryMs: HOUR_MS });
  keepWhile(options);
  await until(() => seen.ends > 0, 'the end');
  // a timer may ring a millisecond before the time is over, and looks then
  expect(seen.ends).toBe(1);
});

it('what is used again is not ended, not even by a look that was under way', async () => {
  const answer = latch();
  const { options, seen } = watched({ isOver: () => answer.opened.then(() => true) });
  const use = keepWhile(options);
  await until(() => seen.looks === 1, 'the look');
  use();
  answer.open();
  await options.isOver();
  expect(seen.ends).toBe(0);
});

/** Options that count. */
function watched(some: Partial<KeepOptions>): { readonly options: KeepOptions; readonly seen: { looks: number; ends: number } } {
  const seen = { looks: 0, ends: 0 };
  const { isOver = async () => false } = some;
  const options: KeepOptions = {
    ms: HOUR_MS,
    lookEveryMs: 1,
    ...some,
    isOver: () => {
      seen.looks += 1;
      return isOver();
    },
    onEnd: () => {
      seen.ends += 1;
    },
  };
  return { options, seen };
}
