import { expect, it } from 'vitest';
import { signalOfRequests } from '../../../src/client/temporal/connection.js';

it('many requests in one look are no leak to warn of, and each ends with the signal that it was made from', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  const given = new AbortController();
  let ended = 0;
  const own = signalOfRequests(given.signal);
  for (let request = 0; request < 50; request += 1) own.addEventListener('abort', () => void (ended += 1));
  given.abort();
  // a warning is emitted a tick later
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', note);
  expect(ended).toBe(50);
  expect(warnings).toEqual([]);
});
