import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/contracts/schemas/message.js';
import { AnswerWriter } from '../../../src/gateway/http/chat/answer-writer.js';
import type { UiChunk } from '../../../src/gateway/http/chat/ui-chunk.js';
import type { SentEvent } from '../../../src/gateway/http/events/sent-event.js';

/** One turn of an invented run. */
interface Turn {
  readonly thinking: string;
  readonly text: string;
  readonly calls: readonly { readonly isError: boolean }[];
  /** Attempts before the one that answered: each streams a part of its text. */
  readonly lost: readonly string[];
}

interface InventedRun {
  readonly turns: readonly Turn[];
  /** The reserved final answer, after the last turn. */
  readonly final: string | undefined;
}

const TEXT = fc.string({ minLength: 1, maxLength: 12 });
const TURN: fc.Arbitrary<Turn> = fc.record({
  thinking: fc.oneof(fc.constant(''), TEXT),
  text: fc.oneof(fc.constant(''), TEXT),
  calls: fc.array(fc.record({ isError: fc.boolean() }), { maxLength: 2 }),
  lost: fc.array(TEXT, { maxLength: 2 }),
});
const RUN: fc.Arbitrary<InventedRun> = fc.record({
  turns: fc.array(TURN, { minLength: 1, maxLength: 4 }),
  final: fc.option(TEXT, { nil: undefined }),
});

/** A run with a call, which may have waited for approval. */
const ASKING = RUN.filter(({ turns }) => turns.some(({ calls }) => calls.length > 0));

describe('AnswerWriter', () => {
  it('A-34: however tokens and events mix, and whatever tokens are lost, the message has each part of the transcript once, in order', async () => {
    await fc.assert(
      fc.asyncProperty(RUN, fc.infiniteStream(fc.nat({ max: 99 })), async (run, chances) => {
        const chance = (percent: number): boolean => (chances.next().value ?? 0) < percent;
        expect(partsOf(await messageOf(await written(run, chance)))).toEqual(expectedParts(run));
      }),
      { numRuns: 400 },
    );
  });

  it('C10: a stream that begins at a turn repeats its step, for a page that has the steps before it and a part of this one', async () => {
    await fc.assert(
      fc.asyncProperty(ASKING, fc.nat(), fc.nat(), fc.infiniteStream(fc.nat({ max: 99 })), async (run, turnSeed, cutSeed, chances) => {
        const chance = (percent: number): boolean => (chances.next().value ?? 0) < percent;
        const asking = run.turns.flatMap(({ calls }, index) => (calls.length > 0 ? [index + 1] : []));
        const fromTurn = asking[turnSeed % asking.length] ?? 0;
        const whole = await written(run, () => false);
        const starts = whole.flatMap(({ type }, index) => (type === 'start-step' ? [index] : []));
        const end = starts[fromTurn] ?? whole.length;
        const begin = 1 + whole.findIndex(({ type }, index) => type === 'tool-input-available' && index > (starts[fromTurn - 1] ?? 0));
        const cut = begin + (cutSeed % (end - begin + 1));
        const page = await messageOf(whole.slice(0, cut));
        const rest = await written(run, chance, fromTurn);
        expect(partsOf(await messageOf(rest, page))).toEqual(expectedParts(run));
      }),
      { numRuns: 400 },
    );
  });
});

/** The chunks of a run whose tokens and events mix, and of whose tokens some are lost, as `chance` says. */
async function written(run: InventedRun, chance: (percent: number) => boolean, fromTurn = 0): Promise<UiChunk[]> {
  const transcript = messagesOf(run);
  const seen = new Seen();
  const messages = { until: () => Promise.resolve(transcript.filter((message) => seen.has(message) || chance(20))) };
  const writer = new AnswerWriter({ runId: 'r', messages, approvals: () => Promise.resolve({ pending: [], decided: [] }) }, { fromTurn });
  const chunks = writer.drain();
  const tokens = tokensOf(run).filter(() => !chance(10));
  for (const event of mixed(tokens, eventsOf(run), chance)) {
    seen.note(event);
    await writer.take(event);
    chunks.push(...writer.drain());
  }
  expect(writer.isOver).toBe(true);
  return chunks;
}

/** What the transcript has at least, by what was seen of the run. */
class Seen {
  #turn = 0;
  #isAnswered = false;
  #isEnded = false;
  #isOver = false;

  note({ type, data, cursor }: SentEvent): void {
    const { turn = 0 } = data as { turn?: number };
    if (turn > this.#turn) {
      this.#turn = turn;
      this.#isAnswered = this.#isEnded = false;
    }
    if (turn === this.#turn && type === 'model.completed') this.#isAnswered = true;
    if (turn === this.#turn && type === 'turn.ended') this.#isEnded = true;
    // the reserved final call begins after the turn
    if (cursor.token?.isFinal) this.#isAnswered = this.#isEnded = true;
    if (type === 'result') this.#isOver = true;
  }

  has({ role, turn = 0, id }: Message): boolean {
    if (this.#isOver || turn < this.#turn) return true;
    if (turn > this.#turn || id.endsWith('_final')) return false;
    return role === 'assistant' ? this.#isAnswered : this.#isEnded;
  }
}

function messagesOf({ turns, final }: InventedRun): Message[] {
  const task: Message = { id: 'task', role: 'user', parts: [{ type: 'text', text: 'go' }] };
  const messages = turns.flatMap(({ thinking, text, calls }, index): Message[] => {
    const turn = index + 1;
    return [
      {
        id: `x_${turn}`,
        role: 'assistant',
        turn,
        parts: [
          ...(thinking === '' ? [] : [{ type: 'thinking' as const, text: thinking }]),
          ...(text === '' ? [] : [{ type: 'text' as const, text }]),
          ...calls.map((_, at) => ({ type: 'tool_call' as const, callId: `${turn}-${at}`, name: 'tool', args: { at } })),
        ],
      },
      ...calls.map(({ isError }, at): Message => {
        const part = {
          type: 'tool_result' as const,
          callId: `${turn}-${at}`,
          isError,
          parts: [{ type: 'text' as const, text: `out ${turn}-${at}` }],
        };
        return { id: `x_${turn}_${at}`, role: 'tool', turn, parts: [part] };
      }),
    ];
  });
  const last: Message[] =
    final === undefined
      ? []
      : [{ id: `x_${turns.length}_final`, role: 'assistant', turn: turns.length, parts: [{ type: 'text', text: final }] }];
  return [task, ...messages, ...last];
}

function tokensOf({ turns, final }: InventedRun): SentEvent[] {
  const tokens = turns.flatMap(({ thinking, text, lost }, index) => {
    const turn = index + 1;
    return [
      ...lost.flatMap((piece) => [token('text.delta', { turn, text: piece }), token('attempt.reset', { turn })]),
      ...Array.from(thinking).map((piece) => token('thinking.delta', { turn, text: piece })),
      ...Array.from(text).map((piece) => token('text.delta', { turn, text: piece })),
    ];
  });
  return [...tokens, ...Array.from(final ?? '').map((piece) => token('text.delta', { turn: turns.length, text: piece }, true))];
}

function eventsOf({ turns, final }: InventedRun): SentEvent[] {
  const output = final ?? turns.at(-1)?.text ?? '';
  return [
    ...turns.flatMap(({ text, calls }, index) => {
      const turn = index + 1;
      return [
        runEvent('turn.started', { turn }),
        runEvent('model.completed', { turn, text }),
        ...calls.map((_, at) => runEvent('tool.call', { turn, callId: `${turn}-${at}`, tool: 'tool' })),
        runEvent('turn.ended', { turn }),
      ];
    }),
    ...(final === undefined ? [] : [runEvent('model.completed', { turn: turns.length, text: final })]),
    runEvent('result', {
      result: { runId: 'r', reason: 'completed', output, turns: turns.length, usage: { inputTokens: 1, outputTokens: 1 } },
    }),
  ];
}

function token(type: string, data: { turn: number; text?: string }, isFinal = false): SentEvent {
  const place = { id: '', epoch: 1, seq: 1, turn: data.turn, isFinal };
  return { type, data, cursor: { event: 0, token: place }, adds: { epoch: 1, seq: 1 } };
}

function runEvent(type: string, data: object): SentEvent {
  return { type, data: { type, ...data }, cursor: { event: 1 }, adds: { event: 1 } };
}

/** Both in their own order, the result last. */
function* mixed(tokens: readonly SentEvent[], events: readonly SentEvent[], chance: (percent: number) => boolean): Generator<SentEvent> {
  const [left, right] = [[...tokens], [...events]];
  while (left.length > 0 || right.length > 1) {
    const isToken = right.length <= 1 || (left.length > 0 && chance(60));
    const next = isToken ? left.shift() : right.shift();
    if (next) yield next;
  }
  yield* right;
}

/** The message that a page has behind these chunks, as the package reads them. */
async function messageOf(chunks: readonly UiChunk[], message?: UIMessage): Promise<UIMessage | undefined> {
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const errors: unknown[] = [];
  let last = message;
  const read = readUIMessageStream({
    stream,
    onError: (error) => errors.push(error),
    ...(message ? { message: structuredClone(message) } : {}),
  });
  for await (const each of read) last = each;
  expect(errors, 'the package accepts the stream').toEqual([]);
  return last;
}

function partsOf(message: UIMessage | undefined): unknown[] {
  return (message?.parts ?? []).flatMap((part) => {
    if (part.type === 'text' || part.type === 'reasoning') return [[part.type, part.text, part.state]];
    return 'toolCallId' in part ? [[part.type, part.toolCallId, part.state, part.input]] : [];
  });
}

function expectedParts({ turns, final }: InventedRun): unknown[] {
  const parts = turns.flatMap(({ thinking, text, calls }, index) => [
    ...(thinking === '' ? [] : [['reasoning', thinking, 'done']]),
    ...(text === '' ? [] : [['text', text, 'done']]),
    ...calls.map(({ isError }, at) => ['tool-tool', `${index + 1}-${at}`, isError ? 'output-error' : 'output-available', { at }]),
  ]);
  return final === undefined ? parts : [...parts, ['text', final, 'done']];
}
