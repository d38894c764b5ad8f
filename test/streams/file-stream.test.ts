import { appendFile, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FileStreamSink, streamFile } from '../../src/streams/file-stream-sink.js';
import { FileStreamSource } from '../../src/streams/file-stream-source.js';
import { useTempFolder } from '../support/temp-folder.js';
import { attempt, other, readAll, readUntil, shown, text } from './support/stream-events.js';
import { claimsOfStreamPairs } from './support/stream-pair-claims.js';

const folder = useTempFolder('perdure-streams-');

const RUN = 'run-1';
const source = (): FileStreamSource => new FileStreamSource({ folder: folder.path });

describe('token streams in files', () => {
  claimsOfStreamPairs(() => Promise.resolve({ sink: () => new FileStreamSink({ folder: folder.path }), source }));

  it('a line cut short by a dying writer costs that line only, and the next writer starts on a new one', async () => {
    const path = streamFile(folder.path, RUN);
    await writeFile(path, `${JSON.stringify(other(1, 'reset'))}\n${JSON.stringify(text(2, 'whole '))}\n{"runId":"run-1","turn":1,"att`);
    const sink = new FileStreamSink({ folder: folder.path });
    for (const event of attempt(['after'], { epoch: 2_000 })) sink.publish(event);
    await sink.flush(RUN);
    expect(shown(await readAll(source()))).toBe('<reset>whole <reset>after<end>');
  });

  it('a line that arrives in two halves, split inside a character, is one event', async () => {
    const path = streamFile(folder.path, RUN);
    const bytes = Buffer.from(`${JSON.stringify(other(1, 'reset'))}\n${JSON.stringify(text(2, 'grüße 🦜'))}\n`);
    const middle = bytes.indexOf('🦜') + 2;
    await writeFile(path, bytes.subarray(0, middle));
    const seen = readUntil(source(), (events) => events.length === 2);
    await appendFile(path, bytes.subarray(middle));
    expect(shown(await seen)).toBe('<reset>grüße 🦜');
  });

  it('foreign lines are skipped: other runs, no JSON, no event', async () => {
    const own = attempt(['y']).map((event) => `${JSON.stringify(event)}\n`);
    const foreign = `${JSON.stringify(text(1, 'x', { runId: 'other' }))}\n[]\n17\nnull\nno json\n{"runId":"run-1","type":"text"}\n`;
    await writeFile(streamFile(folder.path, RUN), own.join(foreign));
    expect(shown(await readAll(source()))).toBe('<reset>y<end>');
  });

  it('a watcher goes on when the file was replaced by a shorter one', async () => {
    const sink = new FileStreamSink({ folder: folder.path });
    for (const event of attempt(['a long text that was there before '.repeat(10)])) sink.publish(event);
    await sink.flush(RUN);
    const after = (await readAll(source())).at(-1)?.id;
    const seen = readUntil(source(), (events) => shown(events).endsWith('<end>'), { after });
    await writeFile(
      streamFile(folder.path, RUN),
      attempt(['new'], { epoch: 2_000 })
        .map((event) => `${JSON.stringify(event)}\n`)
        .join(''),
    );
    expect(shown(await seen)).toBe('<reset>new<end>');
  });

  it('a folder that cannot be written is told once and never thrown', async () => {
    const file = join(folder.path, 'a-file');
    await writeFile(file, '');
    const errors: unknown[] = [];
    const sink = new FileStreamSink({ folder: join(file, 'streams'), onError: (error) => errors.push(error) });
    sink.publish(text(1, 'a'));
    await sink.flush(RUN);
    sink.publish(text(2, 'b'));
    await sink.flush(RUN);
    expect(errors).toHaveLength(1);
  });

  it('the file is readable by its owner only, and has a line for pieces of one text', async () => {
    const sink = new FileStreamSink({ folder: join(folder.path, 'streams') });
    for (const event of attempt(['a', 'b', 'c'])) sink.publish(event);
    await sink.flush(RUN);
    const path = streamFile(join(folder.path, 'streams'), RUN);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder.path, 'streams'))).mode & 0o777).toBe(0o700);
    const lines = (await readFile(path, 'utf8')).split('\n').filter(Boolean);
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([{ type: 'reset' }, { text: 'abc' }, { type: 'end' }]);
  });
});

describe('streamFile', () => {
  it('a plain run id is its own name', () => {
    expect(streamFile('s', 'run-20260101-ab.2')).toBe(join('s', 'run-20260101-ab.2.jsonl'));
  });

  it.each(['../../etc/passwd', 'a/b', '..', '.hidden', '-rf', 'a\nb', 'A', 'x'.repeat(1_000), 'a:b', '🦜'])(
    '%j stays inside the folder',
    async (id) => {
      const sink = new FileStreamSink({ folder: folder.path });
      sink.publish(text(2, 'a', { runId: id }));
      await sink.flush(id);
      expect(await readdir(folder.path)).toHaveLength(1);
      expect(shown(await readAll(source(), { runId: id }))).toBe('<reset>a');
    },
  );

  it('ids that differ in case only, or in what is replaced, get different files', () => {
    const names = ['abc', 'ABC', 'Abc', 'a/c', 'a:c', 'a_c'].map((id) => streamFile('s', id).toLowerCase());
    expect(new Set(names).size).toBe(names.length);
  });
});
