import { expect, test } from 'vitest';
import { countFailure, restartPauseMs } from '../../../src/worker/supervisor/restart-pause.js';

test('the pause before a restart doubles from 0.2 s to 10 s', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 8, 100].map(restartPauseMs)).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000]);
});

test('a worker that worked for a minute starts the count anew; one that never worked does not', () => {
  expect([countFailure(5, undefined), countFailure(5, 59_999), countFailure(5, 60_000)]).toEqual([6, 6, 1]);
});
