import { inspect } from 'node:util';
import { expect } from 'vitest';
import type { ScriptStepInput } from '../../../src/providers/scripted/script.js';
import { startRawServer } from '../support/raw-server.js';
import { ask, failureOf, kept, message, resultsOf } from './ask.js';
import type { ScriptedSubject } from './provider-subject.js';

/** What a provider makes of a server that fails in one way; the ids are those of the table of faults. */
export interface FaultCase {
  readonly claim: string;
  readonly run: (subject: ScriptedSubject) => Promise<void>;
}

const A_DAY_MS = 24 * 60 * 60 * 1_000;
const SAME_ID = { id: 'call_same', name: 'read_file' };
const WRONG_KEY = 'canary-Zq81mPx4vLw9-tail';

/** One case for each row of the table of faults that a provider alone can show. */
export const FAULT_CASES = {
  M1: { claim: 'a 500 may be tried again: two of them, then the answer, in three requests', run: retriesServerError },
  M3: {
    claim: 'a 429 says how long to wait, be it a day',
    run: fails({ status: 429, retryAfter: 86_400 }, { type: 'Model.RateLimited', retryAfterMs: A_DAY_MS }),
  },
  M5: {
    claim: 'a 529 is an overloaded server',
    run: fails({ status: 529, code: 'overloaded_error', message: 'Overloaded' }, { type: 'Model.Overloaded' }),
  },
  M6: { claim: 'a wrong key is told without any part of the key', run: hidesWrongKey },
  M8: {
    claim: 'a 400 is not to be tried again, and says what the server said',
    run: fails(
      { status: 400, message: "Unknown parameter: 'frobnicate'." },
      { type: 'Model.BadRequest', message: expect.stringContaining('frobnicate') },
    ),
  },
  M9: {
    claim: 'a prompt that is too long is told as such, in the words of each API',
    run: fails({ status: 400, code: 'context_length_exceeded' }, { type: 'Model.ContextOverflow' }),
  },
  M11: { claim: 'a 413 is a prompt that is too long', run: fails({ status: 413 }, { type: 'Model.ContextOverflow' }) },
  M15: { claim: 'silence within the answer is ended after the idle time', run: endsSilence },
  'M15 before headers': { claim: 'silence before the answer is ended too', run: endsSilenceBeforeHeaders },
  M16: { claim: 'pings keep a slow answer alive beyond the idle time', run: waitsWhilePinged },
  M18: { claim: 'an error told within the stream is what its status would be', run: tellsErrorInStream },
  M20: { claim: 'a refusal is an answer that says so, with its text', run: keepsRefusal },
  M21: { claim: 'a paused answer says so', run: tellsPause },
  M22: { claim: 'two calls with one id are two calls, and their results are taken', run: keepsCallsOfOneId },
  M27: { claim: 'a redirect is refused, and the other host gets nothing', run: refusesRedirect },
  M28: { claim: 'an answer without usage has none, and is an answer', run: goesWithoutUsage },
  html: { claim: 'a web page with status 200 is no answer', run: fails({ html: true }, { type: 'Model.BadResponse' }) },
} as const satisfies Readonly<Record<string, FaultCase>>;

/** A case of a server that answers with a fault. */
function fails(fault: NonNullable<ScriptStepInput['fault']>, expected: object): FaultCase['run'] {
  return async (subject) => {
    expect(await failureOf(subject, { reply: { fault } })).toMatchObject(expected);
  };
}

async function retriesServerError(subject: ScriptedSubject): Promise<void> {
  const before = subject.server.requests.length;
  for (const _ of ['first', 'second']) {
    expect(await failureOf(subject, { reply: { fault: { status: 500 } } })).toMatchObject({ type: 'Model.Overloaded', status: 500 });
  }
  await ask(subject, { reply: { text: 'At last.' } });
  expect(subject.server.requests.slice(before).map(({ outcome }) => outcome)).toEqual(['faulted', 'faulted', 'answered']);
}

async function hidesWrongKey(subject: ScriptedSubject): Promise<void> {
  const failure = await failureOf(subject, { apiKey: WRONG_KEY, requests: subject.gateway ? 0 : 1 });
  // LiteLLM without a database has a 400 for it
  expect(failure).toMatchObject({ type: 'Model.Auth', status: subject.gateway ? 400 : 401 });
  const shown = inspect(failure, { depth: 9, showHidden: true });
  for (let at = 0; at + 6 <= WRONG_KEY.length; at += 1) expect(shown).not.toContain(WRONG_KEY.slice(at, at + 6));
}

async function endsSilence(subject: ScriptedSubject): Promise<void> {
  const reply = { text: 'One moment.', fault: { stall: true, afterEvent: 'text' } } as const;
  const question = { reply, idleMs: idleMsOf(subject), requests: requestsOf(subject) };
  expect((await failureOf(subject, question)).type).toBe('Model.StreamIdle');
}

async function endsSilenceBeforeHeaders(subject: ScriptedSubject): Promise<void> {
  const idleMs = idleMsOf(subject);
  const question = { reply: { fault: { stall: true } }, idleMs, firstByteMs: idleMs, requests: requestsOf(subject) } as const;
  const failure = await failureOf(subject, question);
  expect(failure.type).toMatch(/^Model\.(?:StreamIdle|Timeout)$/u);
}

async function waitsWhilePinged(subject: ScriptedSubject): Promise<void> {
  const abort = new AbortController();
  const reason = new Error('waited long enough');
  const idleMs = idleMsOf(subject);
  const started = Date.now();
  const reply = { text: 'One moment.', fault: { stall: true, afterEvent: 'text', pingEveryMs: idleMs / 10 } } as const;
  const timer = setTimeout(() => abort.abort(reason), 3 * idleMs);
  try {
    await expect(ask(subject, { reply, idleMs, signal: abort.signal })).rejects.toBe(reason);
  } finally {
    clearTimeout(timer);
  }
  expect(Date.now() - started).toBeGreaterThan(2 * idleMs);
}

async function tellsErrorInStream(subject: ScriptedSubject): Promise<void> {
  const fault = { streamError: 'overloaded_error', message: 'Overloaded', afterEvent: 'text' } as const;
  const failure = await failureOf(subject, { reply: { text: 'So far, so good.', fault } });
  expect(failure).toMatchObject({ type: 'Model.Overloaded', message: expect.stringContaining('Overloaded') });
}

async function keepsRefusal(subject: ScriptedSubject): Promise<void> {
  const { answer } = await ask(subject, { reply: { text: 'I would rather not.', stop: 'refusal' } });
  expect(answer).toMatchObject({ stop: 'refusal', parts: [{ type: 'text', text: 'I would rather not.' }] });
}

async function tellsPause(subject: ScriptedSubject): Promise<void> {
  const { answer } = await ask(subject, { reply: { text: 'Still at it.', stop: 'paused' } });
  expect(answer).toMatchObject({ stop: 'paused', parts: [{ type: 'text', text: 'Still at it.' }] });
}

async function keepsCallsOfOneId(subject: ScriptedSubject): Promise<void> {
  const { answer } = await ask(subject, {
    reply: {
      toolCalls: [
        { ...SAME_ID, args: { path: 'a.md' } },
        { ...SAME_ID, args: { path: 'b.md' } },
      ],
    },
  });
  expect(answer.parts).toMatchObject([
    { name: 'read_file', args: { path: 'a.md' } },
    { name: 'read_file', args: { path: 'b.md' } },
  ]);
  const answered = kept(answer, 1);
  const results = resultsOf(answered, (index) => `file ${index}`);
  expect(results).toHaveLength(2);
  await ask(subject, { messages: [message('user', 'Read both.'), answered, ...results], reply: { text: 'Done.' } });
}

async function refusesRedirect(subject: ScriptedSubject): Promise<void> {
  const other = await startRawServer();
  try {
    const failure = await failureOf(subject, { reply: { fault: { redirect: `${other.url}/elsewhere` } } });
    expect(failure).toMatchObject({ type: 'Model.BadRequest', message: expect.stringContaining('MODEL_REDIRECT_REFUSED') });
    expect(other.requests).toEqual([]);
  } finally {
    await other.close();
  }
}

async function goesWithoutUsage(subject: ScriptedSubject): Promise<void> {
  const { answer } = await ask(subject, { reply: { text: 'Done.', usage: 'none' } });
  expect(answer.parts).toEqual([{ type: 'text', text: 'Done.' }]);
  expect(answer.usage).toBeUndefined();
}

/** Silence may end a call before its request is sent. What a gateway sends late would count for the next case. */
function requestsOf({ gateway }: ScriptedSubject): 1 | 'at most one' {
  return gateway ? 1 : 'at most one';
}

/** A gateway on a busy machine needs a while before it asks the server at all. */
function idleMsOf({ gateway }: ScriptedSubject): number {
  return gateway ? 1_500 : 400;
}
