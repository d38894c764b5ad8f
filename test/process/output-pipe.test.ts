import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type OutputPipe, openOutputPipe } from '../../src/process/output-pipe.js';
import { latch, until } from '../support/use-workers.js';

describe('openOutputPipe', () => {
  test('what is written arrives in its order, in pieces that are whole until they are taken', async () => {
    const taken: string[] = [];
    const pipe = await opened(async (piece) => {
      const before = piece.toString();
      await new Promise((resolve) => void setImmediate(resolve));
      expect(piece.toString()).toBe(before);
      taken.push(before);
    });
    const text = Array.from({ length: 50_000 }, (_, at) => `line ${at}\n`).join('');
    pipe.writeEnd.end(text);
    await pipe.ended;
    expect(taken.join('') === text).toBe(true);
    expect(taken.length).toBeGreaterThan(5);
  });

  test('no further piece is read until the last one is taken', async () => {
    const free = latch();
    let pieces = 0;
    const pipe = await opened(() => {
      pieces += 1;
      return free.opened;
    });
    pipe.writeEnd.write(Buffer.alloc(100_000_000));
    await until(() => pieces > 0, 'a piece');
    // what the writer could not give away stays with it
    expect(pipe.writeEnd.writableLength).toBeGreaterThan(90_000_000);
    expect(pieces).toBe(1);
    pipe.close();
    await pipe.ended;
    free.open();
  });

  test('in a hurry nothing is waited for, pieces stay whole, and an endless writer is cut off', async () => {
    const never = new Promise<void>(() => undefined);
    const pieces: Buffer[] = [];
    const pipe = await opened((piece) => {
      pieces.push(piece);
      return never;
    });
    const bytes = Buffer.from(Array.from({ length: 30_000 }, (_, at) => `line ${at}\n`).join(''));
    pipe.writeEnd.write(bytes);
    await until(() => pieces.length === 1, 'a piece');
    pipe.writeEnd.on('error', () => undefined);
    pipe.drain();
    pipe.writeEnd.write(Buffer.alloc(100_000_000));
    await pipe.ended;
    const all = Buffer.concat(pieces);
    expect(all.subarray(0, bytes.length).equals(bytes)).toBe(true);
    expect(all.length).toBeLessThan(2_000_000);
  });

  test('the place where the ends met is gone at once', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'perdure-own-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    vi.stubEnv('TMPDIR', folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    await opened(() => Promise.resolve());
    expect(await readdir(folder)).toEqual([]);
  });
});

async function opened(take: (piece: Buffer) => Promise<void>): Promise<OutputPipe> {
  const pipe = await openOutputPipe(take);
  onTestFinished(() => pipe.close());
  return pipe;
}
