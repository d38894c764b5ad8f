import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { QUERY_AGAIN_MS, queryTwice } from '../../src/contracts/query-twice.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Ends a request at its deadline, as a Temporal client does. */
async function withDeadline<Answer>(deadline: number, request: () => Promise<Answer>): Promise<Answer> {
  return await Promise.race([request(), failure(deadline - Date.now(), 'no answer')]);
}

const after = <Answer>(ms: number, answer: Answer): Promise<Answer> => new Promise((resolve) => setTimeout(resolve, ms, answer));
const failure = async (ms: number, message: string): Promise<never> => {
  await after(ms, undefined);
  throw new Error(message);
};
const dropped = (): Promise<never> => new Promise(() => undefined);

/** The outcome of a query whose attempts are these, and the time that it took. */
async function outcomeOf(...attempts: (() => Promise<string>)[]) {
  const began = Date.now();
  const query = vi.fn<() => Promise<string>>();
  for (const attempt of attempts) query.mockImplementationOnce(attempt);
  const outcome = queryTwice({ withDeadline }, began + 5_000, query).then(
    (answer) => ({ answer, ms: Date.now() - began }),
    (error: Error) => ({ error: error.message, ms: Date.now() - began }),
  );
  await vi.runAllTimersAsync();
  return { ...(await outcome), asked: query.mock.calls.length };
}

it('a query that is answered is sent once', async () => {
  expect(await outcomeOf(() => after(QUERY_AGAIN_MS - 1, 'first'))).toEqual({ answer: 'first', ms: QUERY_AGAIN_MS - 1, asked: 1 });
});

it('a query that fails is sent once', async () => {
  expect(await outcomeOf(() => failure(20, 'refused'))).toEqual({ error: 'refused', ms: 20, asked: 1 });
});

it('a query without an answer is sent once more, with the rest of its time', async () => {
  expect(await outcomeOf(dropped, () => after(10, 'second'))).toEqual({ answer: 'second', ms: QUERY_AGAIN_MS + 10, asked: 2 });
  expect(await outcomeOf(dropped, () => failure(10, 'refused'))).toEqual({ error: 'refused', ms: QUERY_AGAIN_MS + 10, asked: 2 });
  expect(await outcomeOf(dropped, dropped)).toEqual({ error: 'no answer', ms: 5_000, asked: 2 });
});

it('also if it is ended slightly before its time', async () => {
  const early = await outcomeOf(
    () => failure(QUERY_AGAIN_MS - 2, 'no answer'),
    () => after(10, 'second'),
  );
  expect(early).toMatchObject({ answer: 'second', asked: 2 });
});
