import { expect } from 'vitest';
import type { ModelAnswer, StreamDelta } from '../../../src/providers/contract/provider.js';
import type { ScriptStepInput } from '../../../src/providers/scripted/script.js';
import { ask, kept, message, resultsOf } from './ask.js';
import type { ProviderSubject } from './provider-subject.js';

/** Something that holds of every provider, with any model at the far end; what a script says is claimed word for word. */
export interface AnswerCase {
  readonly claim: string;
  readonly run: (subject: ProviderSubject) => Promise<void>;
}

/** 32 × 32 pixels of one red. */
const RED =
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAKklEQVR42mO4IyJCU8QwasGoBaMWjFowasGoBaMWjFowasGoBaMWDBULAJ3LED19/LmKAAAAAElFTkSuQmCC';

const PROMPT = 'You do exactly what you are asked, and say nothing else.';
const READ = { name: 'read_file', args: { path: 'a.md' } };
const USAGE = { inputTokens: 1_050, outputTokens: 70, cacheReadTokens: 1_000 };
/** Enough for a sentence after some thinking, and cheap. */
const OUTPUT_TOKENS_MAX = 400;

/** The cases that need no script: `npm run test:live` asks them of real models. */
export const ANSWER_CASES = {
  text: { claim: 'text streams, and the answer is what streamed', run: streamsText },
  tools: { claim: 'a call that must be made comes with its arguments, and is shown while it streams', run: callsTool },
  'parallel tools': { claim: 'several calls of one answer come in order, each with an id of its own', run: callsSeveralTools },
  'tool results': {
    claim: 'thinking, text, calls, their results and a steer go back in an order that the API takes, and are answered',
    run: takesToolResults,
  },
  'gone tools': { claim: 'a transcript with calls of tools that are not offered any more is taken', run: takesGoneTools },
  images: { claim: 'a picture is sent as a picture', run: sendsPicture },
  thinking: { claim: 'thinking comes before the text, streams apart from it, and is kept', run: keepsThinking },
  usage: { claim: 'tokens are told, cache reads among the input', run: tellsUsage },
  'output limit': { claim: 'an answer cut by its output limit says so, and keeps its text', run: tellsItsLimit },
  'no calls': { claim: 'a request that forbids calls is told so, with its tools, and brings none', run: forbidsCalls },
  'request id': { claim: 'the id that the server gave the request is in the answer', run: givesRequestId },
  cancel: { claim: 'a cancel in mid-stream rejects with its reason, and ends the request at the server', run: cancels },
} as const satisfies Readonly<Record<string, AnswerCase>>;

async function streamsText(subject: ProviderSubject): Promise<void> {
  const said = 'Pong, the 東京 way 👍';
  const { answer, deltas } = await ask(subject, {
    prompt: PROMPT,
    messages: [message('user', 'Say "pong".')],
    tools: [],
    outputTokensMax: OUTPUT_TOKENS_MAX,
    reply: { text: said, chunkChars: 4 },
  });
  expect(answer.stop).toBe('end');
  expect(textOf(answer)).toBe(streamed(deltas, 'text'));
  expect(textOf(answer)).toMatch(/pong/iu);
  if (subject.server) expect([textOf(answer), deltas.length > 3]).toEqual([said, true]);
}

async function callsTool(subject: ProviderSubject): Promise<void> {
  const { answer, deltas } = await ask(subject, {
    prompt: PROMPT,
    messages: [message('user', 'Read the file a.md.')],
    toolChoice: 'required',
    outputTokensMax: OUTPUT_TOKENS_MAX,
    reply: { toolCalls: [READ] },
  });
  expect(answer.stop).toBe('tool_calls');
  expect(callsOf(answer)).toMatchObject([{ name: 'read_file', args: { path: expect.stringContaining('a.md') } }]);
  expect(deltas).toContainEqual({ type: 'tool_call', name: 'read_file' });
}

async function callsSeveralTools(subject: ProviderSubject): Promise<void> {
  const { answer } = await ask(subject, {
    prompt: PROMPT,
    messages: [message('user', 'Read the files a.md and b.md at once: two calls of read_file in this one answer.')],
    outputTokensMax: OUTPUT_TOKENS_MAX,
    reply: { text: 'Both.', toolCalls: [READ, { name: 'read_file', args: { path: 'b.md' } }] },
  });
  const calls = callsOf(answer);
  expect(calls.map(({ args }) => args)).toMatchObject([{ path: /a\.md/u }, { path: /b\.md/u }].map(pathMatching));
  expect(new Set(calls.map(({ callId }) => callId)).size).toBe(calls.length);
}

async function takesToolResults(subject: ProviderSubject): Promise<void> {
  const task = message('user', 'Read the files a.md and b.md at once: two calls of read_file in this one answer.');
  const first = await ask(subject, {
    ...thinkingOf(subject),
    prompt: PROMPT,
    messages: [task],
    reply: { thinking: 'Two files.', text: 'I read both.', toolCalls: [READ, { name: 'read_file', args: { path: 'b.md' } }] },
  });
  const answered = kept(first.answer, 1);
  const results = resultsOf(answered, (index) => (index === 0 ? 'The word is "larch".' : 'The word is "birch".'));
  expect(results.length).toBeGreaterThan(0);
  const { answer } = await ask(subject, {
    ...thinkingOf(subject),
    prompt: PROMPT,
    messages: [task, answered, ...results, message('user', 'Now say the words that you found.')],
    reply: { text: 'larch and birch', expect: { lastUser: 'Now say the words', lastToolResult: 'birch' } },
  });
  expect(textOf(answer)).toMatch(/larch/iu);
}

async function takesGoneTools(subject: ProviderSubject): Promise<void> {
  const task = message('user', 'Read the file a.md.');
  const called = message('assistant', 'I read it.', { type: 'tool_call', callId: 't1_0', name: 'read_file', args: { path: 'a.md' } });
  const results = resultsOf(called, () => 'The word is "larch".');
  const { answer } = await ask(subject, {
    prompt: PROMPT,
    messages: [task, called, ...results, message('user', 'Which word did you find? Only the word.')],
    tools: [],
    outputTokensMax: OUTPUT_TOKENS_MAX,
    reply: { text: 'larch', expect: { lastUser: 'Which word', lastToolResult: 'larch' } },
  });
  expect(callsOf(answer)).toEqual([]);
  expect(textOf(answer)).toMatch(/larch/iu);
}

async function sendsPicture(subject: ProviderSubject): Promise<void> {
  const { answer, record } = await ask(subject, {
    prompt: PROMPT,
    messages: [message('user', 'Which colour is this? One word.', { type: 'file', mime: 'image/png', dataBase64: RED })],
    tools: [],
    outputTokensMax: OUTPUT_TOKENS_MAX,
    reply: { text: 'Red.' },
  });
  expect(textOf(answer)).toMatch(/red/iu);
  if (record) expect(JSON.stringify(record.body)).toContain(RED);
}

async function keepsThinking(subject: ProviderSubject): Promise<void> {
  const { answer, deltas } = await ask(subject, {
    ...thinkingOf(subject),
    prompt: PROMPT,
    messages: [message('user', 'How much is 17 times 23? Only the number.')],
    tools: [],
    reply: { thinking: 'Seventeen times twenty is 340.', text: '391' },
  });
  expect(answer.parts.map(({ type }) => type)).toEqual(['thinking', 'text']);
  const [thinking] = answer.parts;
  expect(thinking).toMatchObject({ text: streamed(deltas, 'thinking') });
  if (subject.server) expect(thinking).toMatchObject({ text: 'Seventeen times twenty is 340.' });
  expect(textOf(answer)).toContain('391');
}

async function tellsUsage(subject: ProviderSubject): Promise<void> {
  const { answer } = await ask(subject, { ...short(), reply: { text: 'Pong.', usage: USAGE } });
  const { usage } = answer;
  expect(usage).toBeDefined();
  expect(usage?.inputTokens).toBeGreaterThan(0);
  expect(usage?.outputTokens).toBeGreaterThan(0);
  if (subject.server) expect(usage).toMatchObject({ inputTokens: 1_050, outputTokens: 70, cacheReadTokens: 1_000 });
}

async function tellsItsLimit(subject: ProviderSubject): Promise<void> {
  const { answer, record } = await ask(subject, {
    prompt: PROMPT,
    messages: [message('user', 'Count from 1 to 500 in words, one a line.')],
    tools: [],
    outputTokensMax: 64,
    reply: { text: 'one two', stop: 'length', usage: { outputTokens: 64 } },
  });
  expect(answer.stop).toBe('length');
  if (subject.server) expect(textOf(answer)).toBe('one two');
  if (record) expect(JSON.stringify(record.body)).toMatch(/"max_(?:\w+_)?tokens":64\b/u);
}

async function forbidsCalls(subject: ProviderSubject): Promise<void> {
  const { answer, record } = await ask(subject, {
    prompt: PROMPT,
    messages: [message('user', 'Read a.md. If you cannot, say so.')],
    toolChoice: 'none',
    outputTokensMax: OUTPUT_TOKENS_MAX,
    reply: ({ final, tools }): ScriptStepInput => ({ text: `final: ${final}, tools: ${tools.join()}` }),
  });
  expect(callsOf(answer)).toEqual([]);
  if (record) expect(textOf(answer)).toBe('final: true, tools: read_file');
}

async function givesRequestId(subject: ProviderSubject): Promise<void> {
  const { answer } = await ask(subject, { ...short(), reply: { text: 'Pong.' } });
  // a gateway may give it an id of its own
  expect(answer.requestId).toMatch(subject.server && !subject.gateway ? /^req_\d{6}$/u : /\S/u);
}

async function cancels(subject: ProviderSubject): Promise<void> {
  const abort = new AbortController();
  const reason = new Error('a user said so');
  const asked = ask(subject, {
    prompt: PROMPT,
    messages: [message('user', 'Count from 1 to 500 in words, one a line.')],
    tools: [],
    signal: abort.signal,
    // short enough for a gateway that reads on to end soon: the next cases ask it too
    reply: { text: 'one two three '.repeat(200), chunkDelayMs: 20 },
    seen: () => abort.abort(reason),
  });
  await expect(asked).rejects.toBe(reason);
  // a gateway may read on for its own client, who has gone: what counts there is that we left it
  const ended = () => (subject.gateway ? subject.server?.clientLeft : subject.server?.requests.at(-1)?.outcome === 'gone');
  if (subject.server) await expect.poll(ended, { timeout: 20_000 }).toBe(true);
}

function short() {
  return { prompt: PROMPT, messages: [message('user', 'Say "pong".')], tools: [], outputTokensMax: OUTPUT_TOKENS_MAX };
}

/** Thinking needs room beside the answer. */
function thinkingOf({ thinking }: ProviderSubject) {
  return thinking ? { thinking, outputTokensMax: 3_000 } : { outputTokensMax: 3_000 };
}

function pathMatching({ path }: { readonly path: RegExp }) {
  return { path: expect.stringMatching(path) };
}

function textOf({ parts }: ModelAnswer): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function callsOf({ parts }: ModelAnswer) {
  return parts.filter((part) => part.type === 'tool_call');
}

function streamed(deltas: readonly StreamDelta[], type: 'text' | 'thinking'): string {
  return deltas.map((delta) => (delta.type === type ? delta.text : '')).join('');
}
