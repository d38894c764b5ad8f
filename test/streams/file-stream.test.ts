import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileStreamSink, streamFile } from '../../src/streams/file-stream-sink.js';
import { FileStreamSource } from '../../src/streams/file-stream-source.js';
import type { StreamEvent } from '../../src/streams/stream.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'perdure-streams-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const RUN = 'run-1';

function text(seq: number, words: string, place: { turn?: number; attempt?: number; runId?: string } = {}): StreamEvent {
  return { runId: RUN, turn: 1, attempt: 1, ...place, seq, type: 'text', text: words };
}

/** Reads until `enough` says so, then stops the reader and gives everything it saw. */
async function readUntil(enough: (events: StreamEvent[]) => boolean, runId = RUN): Promise<StreamEvent[]> {
  const stop = new AbortController();
  const events: StreamEvent[] = [];
  for await (const event of new FileStreamSource({ folder }).read(runId, stop.signal)) {
    events.push(event);
    if (enough(events)) stop.abort();
  }
  return events;
}

const joined = (events: StreamEvent[]): string => events.map((event) => (event.type === 'text' ? event.text : `<${event.type}>`)).join('');

describe('file stream', () => {
  it('a watcher that comes late gets what happened so far, then the tail', async () => {
    const sink = new FileStreamSink({ folder });
    sink.publish(text(1, 'early '));
    await sink.flush(RUN);
    const seen = readUntil((events) => joined(events).endsWith('late'));
    sink.publish(text(2, 'late'));
    expect(joined(await seen)).toBe('early late');
  });

  it('a watcher may come before the file is there', async () => {
    const seen = readUntil((events) => events.length > 0);
    new FileStreamSink({ folder: join(folder) }).publish(text(1, 'hello'));
    expect(joined(await seen)).toBe('hello');
  });

  it('pieces of one text become one line, other events keep their place between them', async () => {
    const sink = new FileStreamSink({ folder });
    for (const [index, piece] of ['a', 'b', 'c'].entries()) sink.publish(text(index + 1, piece));
    sink.publish({ runId: RUN, turn: 1, attempt: 2, seq: 4, type: 'reset' });
    sink.publish(text(5, 'd', { attempt: 2 }));
    await sink.flush(RUN);
    const lines = (await readFile(streamFile(folder, RUN), 'utf8')).split('\n').filter(Boolean);
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([{ type: 'text' }, { type: 'reset' }, { type: 'text' }]);
    expect(joined(await readUntil((events) => events.length === 3))).toBe('abc<reset>d');
  });

  it('keeps the order of 2,000 events over many flushes', async () => {
    const sink = new FileStreamSink({ folder });
    for (let seq = 1; seq <= 2_000; seq += 1) {
      sink.publish(text(seq, `${seq} `, { turn: seq }));
      if (seq % 100 === 0) void sink.flush(RUN);
    }
    await sink.flush(RUN);
    const events = await readUntil((seen) => seen.length === 2_000);
    expect(events.map((event) => event.seq)).toEqual(Array.from({ length: 2_000 }, (_, index) => index + 1));
  });

  it('a line cut short by a dying writer costs that line only, and the next writer starts on a new one', async () => {
    const path = streamFile(folder, RUN);
    await writeFile(path, `${JSON.stringify(text(1, 'whole '))}\n{"runId":"run-1","turn":1,"att`);
    const sink = new FileStreamSink({ folder });
    sink.publish(text(3, 'after'));
    await sink.flush(RUN);
    expect(joined(await readUntil((events) => joined(events).endsWith('after')))).toBe('whole after');
  });

  it('a line that arrives in two halves, split inside a character, is one event', async () => {
    const path = streamFile(folder, RUN);
    const bytes = Buffer.from(`${JSON.stringify(text(1, 'grüße 🦜'))}\n`);
    const middle = bytes.indexOf('🦜') + 2;
    await writeFile(path, bytes.subarray(0, middle));
    const seen = readUntil((events) => events.length === 1);
    await appendFile(path, bytes.subarray(middle));
    expect(joined(await seen)).toBe('grüße 🦜');
  });

  it('foreign lines are skipped: other runs, no JSON, no event', async () => {
    await writeFile(
      streamFile(folder, RUN),
      `${JSON.stringify(text(1, 'x', { runId: 'other' }))}\n[]\n17\nnull\nno json\n${JSON.stringify(text(2, 'y'))}\n`,
    );
    expect(joined(await readUntil((events) => events.length > 0))).toBe('y');
  });

  it('what was flushed before the watcher was stopped is still given', async () => {
    const sink = new FileStreamSink({ folder });
    const stop = new AbortController();
    sink.publish(text(1, 'last words'));
    await sink.flush(RUN);
    stop.abort();
    const events: StreamEvent[] = [];
    for await (const event of new FileStreamSource({ folder }).read(RUN, stop.signal)) events.push(event);
    expect(joined(events)).toBe('last words');
  });

  it('a folder that cannot be written is told once and never thrown', async () => {
    const file = join(folder, 'a-file');
    await writeFile(file, '');
    const errors: unknown[] = [];
    const sink = new FileStreamSink({ folder: join(file, 'streams'), onError: (error) => errors.push(error) });
    sink.publish(text(1, 'a'));
    await sink.flush(RUN);
    sink.publish(text(2, 'b'));
    await sink.flush(RUN);
    expect(errors).toHaveLength(1);
  });

  it('the file is readable by its owner only', async () => {
    const sink = new FileStreamSink({ folder: join(folder, 'streams') });
    sink.publish(text(1, 'a'));
    await sink.flush(RUN);
    const path = streamFile(join(folder, 'streams'), RUN);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'streams'))).mode & 0o777).toBe(0o700);
  });
});

describe('streamFile', () => {
  it('a plain run id is its own name', () => {
    expect(streamFile('s', 'run-20260101-ab.2')).toBe(join('s', 'run-20260101-ab.2.jsonl'));
  });

  it.each(['../../etc/passwd', 'a/b', '..', '.hidden', '-rf', 'a\nb', 'A', 'x'.repeat(1_000), 'a:b', '🦜'])(
    '%j stays inside the folder',
    async (id) => {
      const sink = new FileStreamSink({ folder });
      sink.publish(text(1, 'a', { runId: id }));
      await sink.flush(id);
      expect(await readdir(folder)).toHaveLength(1);
      expect(joined(await readUntil((events) => events.length > 0, id))).toBe('a');
    },
  );

  it('ids that differ in case only, or in what is replaced, get different files', () => {
    const names = ['abc', 'ABC', 'Abc', 'a/c', 'a:c', 'a_c'].map((id) => streamFile('s', id).toLowerCase());
    expect(new Set(names).size).toBe(names.length);
  });
});
