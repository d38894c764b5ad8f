import { expect } from 'vitest';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import type { ModelAnswer } from '../../../src/providers/contract/provider.js';
import { EVENT_STREAM } from '../../../src/providers/format/format-server.js';
import { httpFormat } from '../../../src/providers/registry.js';
import type { ScriptStepInput } from '../../../src/providers/scripted/script.js';
import { modelRequest } from '../support/wire.js';
import { ask, message } from './ask.js';
import type { FaultCase } from './fault-cases.js';
import type { ScriptedSubject } from './provider-subject.js';

/** Requests at once: each waits for a connection of its own. */
const BATCH = 16;
/** The step where the same parser is shown with the smaller steps elsewhere: every event is still cut. */
export const SPARSE_STEP = 7;
/** The step within a line, from another byte in each test run. Around line ends and in characters of several bytes, it is each byte. */
const LINE_STEP = 5;
/** Bytes before and after a line end in which each is tried: a field's name, an empty line. */
const LINE_EDGE = 8;
/** The step behind a gateway, which takes up to 30 ms a request: every event is still cut. */
export const GATEWAY_STEP = 37;
/** A lost connection may take bytes with it, so that each byte is no claim of its own. */
const LOST_STEP = 23;
const CUT = /^Model\.(?:StreamTruncated|EmptyStream)$/u;
/** What a gateway may make of a cut: all of them are tried again. */
const GATEWAY_CUT = /^Model\.(?:StreamTruncated|EmptyStream|Overloaded|Unreachable|BadResponse)$/u;

const STEP = {
  text: 'I read é.',
  toolCalls: [
    { name: 'read_file', args: { path: 'a.md', lines: 12 } },
    { name: 'read_file', args: { path: 'b.md' } },
  ],
  // an estimate would count the length that is asked for
  usage: { inputTokens: 40, outputTokens: 20 },
} as const satisfies ScriptStepInput;

/** Streams that end too early, at every place. */
export const CUT_CASES = {
  M12: {
    claim: 'a stream that ends at any byte is a cut answer until its terminal event came, and the whole answer from there on',
    run: survivesEndAtAnyByte,
  },
  M13: { claim: 'a connection that is reset, or closed, gives no answer before its terminal event came', run: survivesLostConnection },
} as const satisfies Readonly<Record<string, FaultCase>>;

async function survivesEndAtAnyByte(subject: ScriptedSubject): Promise<void> {
  const { outcomes, lengths, bytes } = await sweep(subject, 'end', (given) => lengthsOf(given, subject.cutStep));
  const completeFrom = outcomes.indexOf('complete');
  const terminal = await terminalIn(subject, bytes);
  expect(lengths[completeFrom]).toBeGreaterThan(terminal.begin);
  // nothing that may follow it is waited for
  expect(lengths[completeFrom - 1]).toBeLessThan(terminal.end);
  expect(outcomes.lastIndexOf('cut')).toBe(completeFrom - 1);
}

async function survivesLostConnection(subject: ScriptedSubject): Promise<void> {
  const step = Math.max(subject.cutStep ?? 1, LOST_STEP);
  for (const by of ['reset', 'close'] as const) {
    const { outcomes, lengths, bytes } = await sweep(subject, by, (given) => lengthsOf(given, step));
    const terminal = await terminalIn(subject, bytes);
    const early = outcomes.filter((_, index) => (lengths[index] ?? 0) < terminal.begin);
    expect(early.length).toBeGreaterThan(5);
    expect({ by, outcomes: [...new Set(early)] }).toEqual({ by, outcomes: ['cut'] });
  }
}

interface Sweep {
  /** The numbers of bytes that were sent. */
  readonly lengths: readonly number[];
  /** One for each length. */
  readonly outcomes: readonly ('cut' | 'complete')[];
  readonly bytes: Buffer;
}

/** Has the same answer cut at one length after the other. Fails on anything that is neither a cut nor the whole answer: half a call, for one. */
async function sweep(subject: ScriptedSubject, by: 'end' | 'close' | 'reset', at: (bytes: Buffer) => readonly number[]): Promise<Sweep> {
  const { server } = subject;
  const whole = await ask(subject, { ...askedAt(0), reply: STEP });
  const bytes = await server.bytesOfLastAnswer();
  server.answerWith(({ lastUser }) => ({ ...STEP, fault: { cutAfterBytes: Number(lastUser), by } }));
  const lengths = at(bytes);
  const before = server.requests.length;
  const outcomes: ('cut' | 'complete')[] = [];
  while (outcomes.length < lengths.length) {
    const batch = lengths.slice(outcomes.length, outcomes.length + BATCH);
    outcomes.push(...(await Promise.all(batch.map((length) => outcomeAt(subject, length, whole.answer)))));
  }
  // a gateway may send a request again whose connection it finds closed
  const sent = server.requests.length - before;
  expect(subject.gateway ? Math.min(sent, lengths.length) : sent, 'requests').toBe(lengths.length);
  return { lengths, outcomes, bytes };
}

/** With a step, each so many bytes. Without one, those of an event stream that matter, and each byte of anything else. */
function lengthsOf(bytes: Buffer, given?: number): readonly number[] {
  const isLines = bytes.includes('\n\n');
  const step = given ?? (isLines ? LINE_STEP : 1);
  const from = given === undefined ? Math.floor(Math.random() * step) : 0;
  const isEdge = (length: number): boolean => bytes.subarray(Math.max(0, length - LINE_EDGE), length + LINE_EDGE).some(isOfEdge);
  const all = Array.from({ length: bytes.length }, (_, length) => length);
  const chosen = all.filter((length) => length % step === from || (given === undefined && isLines && isEdge(length)));
  return [...new Set([0, ...chosen, bytes.length])];
}

/** A line end, or part of a character of several bytes. */
function isOfEdge(byte: number): boolean {
  return byte === 0x0a || byte >= 0x80;
}

async function outcomeAt(subject: ScriptedSubject, length: number, whole: ModelAnswer): Promise<'cut' | 'complete'> {
  let answer: ModelAnswer;
  try {
    answer = await subject.provider().call(modelRequest({ ...askedAt(length), model: subject.model }));
  } catch (error) {
    if (error instanceof ModelError && (subject.gateway ? GATEWAY_CUT : CUT).test(error.type)) return 'cut';
    throw new Error(`after ${length} bytes`, { cause: error });
  }
  // usage may come after the terminal event
  expect(withoutRequestIds({ ...answer, usage: whole.usage }), `after ${length} bytes`).toEqual(withoutRequestIds(whole));
  return 'complete';
}

/** Each request has an id of its own, and items of its answer may be named after it. */
function withoutRequestIds(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer).replaceAll(/req_\d{6}/gu, 'req'));
}

function askedAt(length: number) {
  return { messages: [message('user', String(length))] };
}

/** Where the event begins that must have been sent before an answer may count as complete, and where it ends. */
async function terminalIn({ server }: ScriptedSubject, bytes: Buffer): Promise<{ readonly begin: number; readonly end: number }> {
  const { terminal, contentType } = await httpFormat(server.format).loadServer();
  const begin = bytes.indexOf(terminal);
  if (begin === -1) throw new Error(`no ${terminal} in the answer`);
  const lineEnd = contentType === EVENT_STREAM ? '\n\n' : '\n';
  return { begin, end: bytes.indexOf(lineEnd, begin) + lineEnd.length };
}
