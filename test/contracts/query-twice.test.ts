import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { QUERY_AGAIN_MS, queryTwice } from '../../src/contracts/query-twice.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A client of the real interface that sends at once, and the signal of each query. */
function client() {
  const signals: AbortSignal[] = [];
  return {
    signals,
    withDeadline: <Answer>(_deadline: number, request: () => Promise<Answer>) => request(),
    withAbortSignal: <Answer>(signal: AbortSignal, request: () => Promise<Answer>) => {
      signals.push(signal);
      return request();
    },
  };
}

const after = <Answer>(ms: number, answer: Answer): Promise<Answer> => new Promise((resolve) => setTimeout(resolve, ms, answer));
const failure = async (ms: number): Promise<never> => {
  await after(ms, undefined);
  throw new Error(`after ${ms}`);
};

/** The outcome of a query whose attempts are these, and the time that it took. */
async function outcomeOf(...attempts: (() => Promise<string>)[]) {
  const began = Date.now();
  const access = client();
  const query = vi.fn<() => Promise<string>>();
  for (const attempt of attempts) query.mockImplementationOnce(attempt);
  const outcome = queryTwice(access, began + 5_000, query).then(
    (answer) => ({ answer, ms: Date.now() - began }),
    (error: Error) => ({ error: error.message, ms: Date.now() - began }),
  );
  await vi.runAllTimersAsync();
  return { ...(await outcome), asked: query.mock.calls.length, isCancelled: access.signals.map(({ aborted }) => aborted) };
}

it('a query that is answered is sent once', async () => {
  const once = await outcomeOf(() => after(QUERY_AGAIN_MS - 1, 'first'));
  expect(once).toEqual({ answer: 'first', ms: QUERY_AGAIN_MS - 1, asked: 1, isCancelled: [] });
});

it('a query that fails is sent once', async () => {
  const failed = await outcomeOf(() => failure(20));
  expect(failed).toEqual({ error: 'after 20', ms: 20, asked: 1, isCancelled: [] });
});

it('a query without an answer is sent once more, and the answer that comes first counts', async () => {
  const dropped = await outcomeOf(
    () => failure(5_000),
    () => after(10, 'second'),
  );
  expect(dropped).toEqual({ answer: 'second', ms: QUERY_AGAIN_MS + 10, asked: 2, isCancelled: [true] });
  const slow = await outcomeOf(
    () => after(QUERY_AGAIN_MS + 500, 'first'),
    () => after(2_000, 'second'),
  );
  expect(slow).toEqual({ answer: 'first', ms: QUERY_AGAIN_MS + 500, asked: 2, isCancelled: [true] });
});

it('the failure of the second query does not decide', async () => {
  const refused = await outcomeOf(
    () => after(QUERY_AGAIN_MS + 500, 'first'),
    () => failure(10),
  );
  expect(refused).toMatchObject({ answer: 'first', ms: QUERY_AGAIN_MS + 500 });
  const lost = await outcomeOf(
    () => failure(5_000),
    () => failure(3_000),
  );
  expect(lost).toMatchObject({ error: 'after 5000', ms: 5_000 });
});
