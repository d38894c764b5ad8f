import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { ArtifactError, type ArtifactStore, type ArtifactWriter } from '../../../src/artifacts/artifact-store.js';

/** A store under test, with a hand to damage it. */
export interface StoreUnderTest {
  readonly store: ArtifactStore;
  /** Another store over the same place, as another worker has it. */
  readonly another: () => ArtifactStore;
  /** Puts other bytes in the place of a kept artifact. */
  readonly damage: (ref: string, bytes: Buffer) => Promise<void>;
  readonly remove: (ref: string) => Promise<void>;
  /** Names of all that is kept, unfinished or not. */
  readonly names: () => Promise<string[]>;
}

const MIB = 1_024 * 1_024;

/** What every store promises; called in a `describe` of each. `open` gives an empty one. */
export function claimsOfArtifactStores(open: () => Promise<StoreUnderTest>): void {
  test('what was written in pieces is read back, named by its hash', async () => {
    const { store } = await open();
    const writer = store.put();
    for (const piece of ['one\n', 'zwei ü\n', '']) await writer.write(Buffer.from(piece));
    const kept = await writer.finish();
    expect(kept).toEqual({ ref: `sha256:${createHash('sha256').update('one\nzwei ü\n').digest('hex')}`, bytes: 12 });
    expect(await store.read(kept.ref, { offset: 0, bytes: 100 })).toEqual({ bytes: Buffer.from('one\nzwei ü\n'), size: 12 });
  });

  test('an empty output can be kept', async () => {
    const { store } = await open();
    const { ref } = await store.put().finish();
    expect(await store.read(ref, { offset: 0, bytes: 10 })).toEqual({ bytes: Buffer.alloc(0), size: 0 });
  });

  test('pages give the asked bytes with the size of the whole; behind the end they are empty', async () => {
    const { store } = await open();
    const ref = await keep(store, Buffer.from('0123456789'));
    expect(await store.read(ref, { offset: 3, bytes: 4 })).toEqual({ bytes: Buffer.from('3456'), size: 10 });
    expect(await store.read(ref, { offset: 8, bytes: 4 })).toEqual({ bytes: Buffer.from('89'), size: 10 });
    expect(await store.read(ref, { offset: 10, bytes: 4 })).toEqual({ bytes: Buffer.alloc(0), size: 10 });
  });

  test('12 MB in pieces of any size are one artifact, readable by another worker at any place', async () => {
    const { store, another } = await open();
    const bytes = randomBytes(12 * MIB);
    const writer = store.put();
    for (let at = 0; at < bytes.length; at += 700_001) await writer.write(bytes.subarray(at, at + 700_001));
    const { ref, bytes: size } = await writer.finish();
    expect(size).toBe(bytes.length);
    const page = await another().read(ref, { offset: 11 * MIB, bytes: 1_000 });
    expect(page.bytes.equals(bytes.subarray(11 * MIB, 11 * MIB + 1_000))).toBe(true);
  });

  test('writers of the same content do not disturb each other', async () => {
    const { store, another, names } = await open();
    const content = randomBytes(6 * MIB);
    const refs = await Promise.all(Array.from({ length: 4 }, (_, at) => keep(at % 2 === 0 ? store : another(), content)));
    expect(new Set(refs).size).toBe(1);
    expect((await store.read(refs[0] ?? '', { offset: 0, bytes: 10 })).size).toBe(content.length);
    expect(await names()).toHaveLength(1);
  });

  test('B-27: a discarded output leaves nothing, and discarding twice is safe', async () => {
    const { store, names } = await open();
    const writer = store.put();
    await writer.write(randomBytes(6 * MIB));
    await writer.discard();
    await writer.discard();
    expect(await names()).toEqual([]);
  });

  test('discarding after the end changes nothing', async () => {
    const { store } = await open();
    const writer = store.put();
    await writer.write(Buffer.from('kept'));
    const { ref } = await writer.finish();
    await writer.discard();
    expect((await store.read(ref, { offset: 0, bytes: 10 })).bytes.toString()).toBe('kept');
  });

  test('an output that is not finished cannot be read', async () => {
    const { store } = await open();
    const writer = store.put();
    await writer.write(Buffer.from('half'));
    await expect(store.read(refOf('half'), { offset: 0, bytes: 10 })).rejects.toMatchObject({ code: 'BLOB_MISSING' });
    await writer.discard();
  });

  test('L9: what is gone is BLOB_MISSING with its reference', async () => {
    const { store, remove } = await open();
    const ref = await keep(store, Buffer.from('soon gone'));
    await remove(ref);
    await expect(store.read(ref, { offset: 0, bytes: 10 })).rejects.toThrow(
      new ArtifactError('BLOB_MISSING', `${ref} is not in the store`),
    );
  });

  test.each([
    ['changed', 'other bytes'],
    ['cut', 'the con'],
    ['empty', ''],
  ])('B30: what is %s is BLOB_CORRUPT, never given', async (_, instead) => {
    const { store, another, damage } = await open();
    const ref = await keep(store, Buffer.from('the content'));
    await damage(ref, Buffer.from(instead));
    for (const reader of [store, another()])
      await expect(reader.read(ref, { offset: 0, bytes: 100 })).rejects.toMatchObject({ code: 'BLOB_CORRUPT' });
  });

  test.each(['', 'sha256:', '../../etc/passwd', 'sha256:../../etc/passwd', `sha256:${'A'.repeat(64)}`, `sha256:${'0'.repeat(64)}/x`])(
    'B30: %j is no reference, and no path or key is made of it',
    async (ref) => {
      const { store } = await open();
      await expect(store.read(ref, { offset: 0, bytes: 10 })).rejects.toMatchObject({ code: 'BAD_REF' });
    },
  );
}

async function keep(store: ArtifactStore, content: Buffer): Promise<string> {
  const writer: ArtifactWriter = store.put();
  await writer.write(content);
  return (await writer.finish()).ref;
}

function refOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
