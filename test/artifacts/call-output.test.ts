import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ArtifactStore, ArtifactWriter } from '../../src/artifacts/artifact-store.js';
import { CallOutput } from '../../src/artifacts/call-output.js';
import { FileArtifactStore } from '../../src/artifacts/file-artifact-store.js';
import type { OutputBoundsInput } from '../../src/contracts/activities.js';
import { ARTIFACT_LIMITS } from '../../src/contracts/constants/limits.js';
import type { ContentPart } from '../../src/contracts/schemas/message.js';
import { completeBounds } from '../../src/output/truncate-output.js';

const lines = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join('');

describe('CallOutput', () => {
  test('what the model reads whole is passed on as it is, and no artifact is made of it', async () => {
    const { output, store } = await callOutput();
    const parts: ContentPart[] = [
      { type: 'text', text: 'a\nb' },
      { type: 'file', mime: 'image/png', dataBase64: 'AA==' },
    ];
    expect(await output.bounded(parts)).toEqual(parts);
    expect(store.writers).toBe(0);
  });

  test('a text of 3 MB is cut, and read back whole by the reference in its footer', async () => {
    const { output, store } = await callOutput();
    const text = 'grün 😀\n'.repeat(250_000);
    const cut = textOf(await output.bounded([{ type: 'text', text }]));
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(50 * 1_024);
    const { size, bytes } = await store.read(refIn(cut), { offset: 0, bytes: 4_000_000 });
    expect(size).toBe(Buffer.byteLength(text));
    expect(bytes.toString() === text).toBe(true);
  });

  test('texts that are too large together become one; other parts stay', async () => {
    const { output } = await callOutput();
    const file: ContentPart = { type: 'file', mime: 'image/png', dataBase64: 'AA==' };
    const parts = Array.from({ length: 100 }, (_, at): ContentPart => ({ type: 'text', text: `part ${at}\n${lines(1_000)}` }));
    const left = await output.bounded([...parts.slice(0, 1), file, ...parts.slice(1)]);
    expect(left.map(({ type }) => type)).toEqual(['text', 'file']);
    expect(Buffer.byteLength(textOf(left))).toBeLessThanOrEqual(50 * 1_024);
  });

  test('A-22: of a long string the marker counts the dropped characters', async () => {
    const { output, store } = await callOutput({ ...completeBounds(), exact: { above: 1_200, head: 700, tail: 260 } });
    const text = 'ü'.repeat(1_000_000);
    const [head, marker, tail] = textOf(await output.bounded([{ type: 'text', text }])).split('\n');
    expect([head?.length, tail?.length]).toEqual([700, 260]);
    expect(marker).toContain('[… 999040 characters dropped; ');
    expect((await store.read(refIn(marker ?? ''), { offset: 0, bytes: 1 })).size).toBe(2_000_000);
  });

  test('what a collector gave is not cut again, also with words before it', async () => {
    const { output, store } = await callOutput();
    const collector = output.collect();
    await collector.write(Buffer.from(lines(20_000)));
    const text = `timed out after 45s: ${await collector.finish('exit code 1')}`;
    expect(textOf(await output.bounded([{ type: 'text', text }]))).toBe(text);
    expect(store.writers).toBe(1);
  });

  test('a tool may say which part matters, and a policy goes before it', async () => {
    expect(await collectedFromHead()).toMatch(/^line 1\n/u);
    expect(await collectedFromHead('tail')).toMatch(/^\[…\]\n[^]*\nline 20000\n/u);
  });

  test.each(['write', 'finish'] as const)(
    'B-27: a store that fails at %s fails nothing: the footer says that the whole is not kept, and why',
    async (when) => {
      const full = Object.assign(new Error('ENOSPC: no space left on device, write /secret/path'), { code: 'ENOSPC' });
      const { output, problems } = await callOutput(undefined, failingStore(when, full));
      const cut = textOf(await output.bounded([{ type: 'text', text: lines(20_000) }]));
      expect(cut).toMatch(/\nline 20000\n\[output cut: .*; the full output could not be stored: ENOSPC\]$/u);
      expect(problems).toEqual(['an output could not be stored as an artifact: ENOSPC']);
    },
  );

  test('a store that hangs holds a stopped call for half a second, and the footer says so', async () => {
    const hanging = failingStore('never');
    const { output } = await callOutput(undefined, hanging, AbortSignal.abort());
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const cut = output.bounded([{ type: 'text', text: lines(20_000) }]);
    const ended = vi.fn<() => void>();
    void cut.finally(ended);
    await vi.advanceTimersByTimeAsync(ARTIFACT_LIMITS.finishMsMaxStopped - 1);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(ended).toHaveBeenCalled();
    expect(textOf(await cut)).toContain('the full output could not be stored: the store took too long');
  });

  test('a producer waits until its piece is stored, so that memory does not grow, and may then use the bytes again', async () => {
    const { output, store } = await callOutput();
    const collector = output.collect();
    const piece = Buffer.alloc(65_536);
    const letters = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const letter of letters) {
      piece.fill(letter);
      await collector.write(piece);
    }
    const { bytes, size } = await store.read(refIn(await collector.finish()), { offset: 0, bytes: 400_000 });
    expect(size).toBe(6 * 65_536);
    expect(letters.map((_, at) => bytes.subarray(at * 65_536, (at + 1) * 65_536).toString())).toEqual(
      letters.map((letter) => letter.repeat(65_536)),
    );
  });

  test('pieces that are not waited for are stored in their order', async () => {
    const { output, store } = await callOutput();
    const collector = output.collect();
    const pieces = Array.from({ length: 40 }, (_, at) => Buffer.alloc(10_000, String.fromCodePoint(65 + at)));
    for (const piece of pieces) void collector.write(piece);
    const { bytes } = await store.read(refIn(await collector.finish()), { offset: 0, bytes: 400_000 });
    expect(bytes.equals(Buffer.concat(pieces))).toBe(true);
  });

  test('what a tool began to collect and did not finish is given up with its call', async () => {
    const { output, store, names } = await callOutput();
    const collector = output.collect();
    await collector.write(Buffer.alloc(200_000));
    expect(store.writers).toBe(1);
    output.close();
    await collector.write(Buffer.alloc(200_000));
    await expect.poll(names).toEqual([]);
  });
});

/** A store that counts its writers. */
class CountingStore implements ArtifactStore {
  writers = 0;
  readonly #store: ArtifactStore;

  constructor(store: ArtifactStore) {
    this.#store = store;
  }

  put(): ArtifactWriter {
    this.writers += 1;
    return this.#store.put();
  }

  read(...given: Parameters<ArtifactStore['read']>): ReturnType<ArtifactStore['read']> {
    return this.#store.read(...given);
  }
}

async function callOutput(bounds = completeBounds(), given?: ArtifactStore, signal = new AbortController().signal) {
  const folder = await mkdtemp(join(tmpdir(), 'perdure-output-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const store = new CountingStore(given ?? new FileArtifactStore(folder));
  const problems: string[] = [];
  const output = new CallOutput(bounds, { store, signal, onProblem: (problem) => void problems.push(problem) });
  return { output, store, problems, names: () => readdir(join(folder, 'unfinished')) };
}

/** What a tool gets that wants the beginning to be kept, under a policy. */
async function collectedFromHead(keep?: OutputBoundsInput['keep']): Promise<string> {
  const { output } = await callOutput(keep && { ...completeBounds(), keep });
  const collector = output.collect({ keep: 'head' });
  await collector.write(Buffer.from(lines(20_000)));
  return collector.finish();
}

function failingStore(when: 'write' | 'finish' | 'never', error = new Error('failed')): ArtifactStore {
  const answer = (at: typeof when) => (when === 'never' ? new Promise<never>(() => undefined) : fails(at));
  const fails = (at: typeof when) => (at === when ? Promise.reject(error) : Promise.resolve());
  return {
    put: () => ({
      write: () => answer('write'),
      finish: async () => {
        await answer('finish');
        return { ref: 'x', bytes: 0 };
      },
      discard: () => Promise.resolve(),
    }),
    read: () => Promise.reject(error),
  };
}

function textOf(parts: readonly ContentPart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function refIn(text: string): string {
  return /"ref":"(sha256:[0-9a-f]{64})"/u.exec(text)?.[1] ?? 'no reference';
}
