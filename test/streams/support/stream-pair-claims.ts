import { expect, test } from 'vitest';
import type { StreamEvent, StreamSink, StreamSource } from '../../../src/streams/stream.js';
import { attempt, other, readAll, readUntil, shown, text } from './stream-events.js';

/** A sink and a source over an empty store. Both functions make further ones over the same store, as other processes have them. */
export interface PairUnderTest {
  readonly sink: () => StreamSink;
  readonly source: () => StreamSource;
}

const RUN = 'run-1';
const LATER = { epoch: 2_000 };

/**
 * What every sink and its source promise; called in a `describe` of each pair. Run it for a pair of your own: it uses nothing but the
 * contract. `open` gives an empty store.
 */
export function claimsOfStreamPairs(open: () => Promise<PairUnderTest>): void {
  test('a watcher that comes late gets what happened so far, then the tail', async () => {
    const { sink, source } = await open();
    const writer = sink();
    await publish(writer, [other(1, 'reset'), text(2, 'early ')]);
    const seen = readUntil(source(), (events) => shown(events).endsWith('late'));
    writer.publish(text(3, 'late'));
    expect(shown(await seen)).toBe('<reset>early late');
  });

  test('a watcher may come before the stream is there', async () => {
    const { sink, source } = await open();
    const seen = readUntil(source(), (events) => shown(events).endsWith('<end>'));
    await publish(sink(), attempt(['hello']));
    expect(shown(await seen)).toBe('<reset>hello<end>');
  });

  test('pieces of one text become one event, and other events keep their place between them', async () => {
    const { sink, source } = await open();
    const toolCall = { runId: RUN, turn: 1, attempt: 1, epoch: 1_000, seq: 5, type: 'tool_call', name: 'x' } as const;
    await publish(sink(), [other(1, 'reset'), text(2, 'a'), text(3, 'b'), text(4, 'c'), toolCall, text(6, 'd'), other(7, 'end')]);
    const events = await readAll(source());
    expect(events.map(({ type }) => type)).toEqual(['reset', 'text', 'tool_call', 'text', 'end']);
    expect(shown(events)).toBe('<reset>abc<tool_call>d<end>');
  });

  test('thinking and text are not merged with each other', async () => {
    const { sink, source } = await open();
    await publish(sink(), [other(1, 'reset'), { ...text(2, 'hm'), type: 'thinking', text: 'hm' }, text(3, 'so')]);
    expect((await readAll(source())).map(({ type }) => type)).toEqual(['reset', 'thinking', 'text']);
  });

  test('2,000 events over many flushes keep their order', async () => {
    const { sink, source } = await open();
    const writer = sink();
    writer.publish(other(1, 'reset'));
    for (let seq = 2; seq <= 2_000; seq += 1) {
      writer.publish(text(seq, `${seq} `));
      if (seq % 100 === 0) void writer.flush(RUN);
    }
    await writer.flush(RUN);
    const words = Array.from({ length: 1_999 }, (_, index) => `${index + 2} `).join('');
    expect(shown(await readUntil(source(), (events) => shown(events).endsWith(' 2000 ')))).toBe(`<reset>${words}`);
  });

  test('a long text comes in events of a bounded size, and whole', async () => {
    const { sink, source } = await open();
    const words = 'grüße 🦜 '.repeat(20_000);
    const pieces = words.match(/.{1,5000}/gsu) ?? [];
    await publish(sink(), attempt(pieces));
    const events = await readAll(source());
    expect(shown(events)).toBe(`<reset>${words}<end>`);
    expect(events.length).toBeGreaterThan(3);
  });

  test('what was flushed before the watcher was stopped is still given', async () => {
    const { sink, source } = await open();
    await publish(sink(), attempt(['last words']));
    expect(shown(await readAll(source()))).toBe('<reset>last words<end>');
  });

  test('a watcher of a run without a stream ends when it is stopped', async () => {
    const { source } = await open();
    expect(await readAll(source(), { runId: 'nobody' })).toEqual([]);
  });

  test('a watcher that resumes after any of its events gets the rest, each event once, from any source', async () => {
    const { sink, source } = await open();
    const writer = sink();
    await publish(writer, attempt(['one ', 'two ']));
    await publish(writer, attempt(['three'], { ...LATER, turn: 2 }));
    const all = await readAll(source());
    expect(all.length).toBeGreaterThan(4);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    for (const [index, { id }] of all.entries()) expect(await readAll(source(), { after: id })).toEqual(all.slice(index + 1));
  });

  test('a watcher that resumes at the end waits for what comes', async () => {
    const { sink, source } = await open();
    const writer = sink();
    await publish(writer, [other(1, 'reset'), text(2, 'before ')]);
    const after = (await readAll(source())).at(-1)?.id;
    const seen = readUntil(source(), (events) => events.length > 0, { after });
    await publish(writer, [text(3, 'after')]);
    expect(shown(await seen)).toBe('after');
  });

  test.each(['', 'x', '0', '-1', '17:x:1', '9:9', '🦜', ':::', `${'9'.repeat(40)}-0:1:1`])(
    'the unknown id %j reads from the beginning',
    async (after) => {
      const { sink, source } = await open();
      await publish(sink(), attempt(['all of it']));
      expect(shown(await readAll(source(), { after }))).toBe('<reset>all of it<end>');
    },
  );

  test('an event that was stored twice is given once', async () => {
    const { sink, source } = await open();
    const events = [other(1, 'reset'), text(2, 'once ')];
    await publish(sink(), events);
    await publish(sink(), events);
    await publish(sink(), [text(3, 'more')]);
    expect(shown(await readAll(source()))).toBe('<reset>once more');
  });

  test('the attempt of another worker begins with a reset, though it is attempt 1 again', async () => {
    const { sink, source } = await open();
    const [first, second] = [sink(), sink()];
    await publish(first, [other(1, 'reset'), text(2, 'half an ans')]);
    await publish(second, attempt(['an answer'], LATER));
    expect(shown(await readAll(source()))).toBe('<reset>half an ans<reset>an answer<end>');
  });

  test('what a superseded attempt still says is not given, also to a watcher that resumes', async () => {
    const { sink, source } = await open();
    const [first, second] = [sink(), sink()];
    await publish(first, [other(1, 'reset'), text(2, 'half')]);
    await publish(second, [other(1, 'reset', LATER), text(2, 'an ', LATER)]);
    const after = (await readAll(source())).at(-1)?.id ?? '';
    await publish(first, [text(3, ' late'), other(4, 'end')]);
    await publish(second, [text(3, 'answer', LATER)]);
    expect(shown(await readAll(source()))).toBe('<reset>half<reset>an answer');
    expect(shown(await readAll(source(), { after }))).toBe('answer');
  });

  test('an attempt that comes after its successor is not given at all', async () => {
    const { sink, source } = await open();
    await publish(sink(), attempt(['new'], LATER));
    await publish(sink(), attempt(['old']));
    expect(shown(await readAll(source()))).toBe('<reset>new<end>');
  });

  test('a reset that was lost is given all the same, and missing events are a gap', async () => {
    const { sink, source } = await open();
    const writer = sink();
    await publish(writer, attempt(['one']));
    await publish(writer, [text(5, 'middle', LATER), text(6, ' and', LATER), text(9, ' end', LATER)]);
    expect(shown(await readAll(source()))).toBe('<reset>one<end><reset><gap>middle and<gap> end');
  });

  test('watchers of the same run and of others get what is theirs, side by side', async () => {
    const { sink, source } = await open();
    const writer = sink();
    const ids = ['a', 'b', 'a', 'c', 'a'];
    const shared = source();
    const watching = ids.map((runId) => readUntil(shared, (events) => shown(events).endsWith('<end>'), { runId }));
    for (const runId of ['a', 'b', 'c']) await publish(writer, attempt([`for ${runId}`], { runId }));
    expect((await Promise.all(watching)).map(shown)).toEqual(ids.map((id) => `<reset>for ${id}<end>`));
  });

  test.each(['run-20260101-ab.2', 'a/b', '../../etc/passwd', 'A', 'a', 'a b\nc', 'x'.repeat(1_000), '🦜', 'ticket:7'])(
    'a run may be called %j',
    async (runId) => {
      const { sink, source } = await open();
      await publish(sink(), attempt(['mine'], { runId }));
      await publish(sink(), attempt(['not mine'], { runId: `${runId}2` }));
      expect(shown(await readAll(source(), { runId }))).toBe('<reset>mine<end>');
    },
  );

  test('publish and flush never throw, whatever the text is', async () => {
    const { sink, source } = await open();
    const writer = sink();
    await publish(writer, [other(1, 'reset'), text(2, '\ud83e'), text(3, '\udd9c\u0000\n\u2028')]);
    await writer.flush('a run without events');
    expect(shown(await readAll(source()))).toContain('\u0000\n\u2028');
  });
}

async function publish(sink: StreamSink, events: readonly StreamEvent[]): Promise<void> {
  for (const event of events) sink.publish(event);
  await sink.flush(events[0]?.runId ?? RUN);
}
