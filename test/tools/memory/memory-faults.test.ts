import { execFileSync } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { addNote, openMemory } from '../../../src/tools/memory/memory-folder.js';
import { searchNotes } from '../../../src/tools/memory/memory-index.js';
import { hasOrSays } from '../../support/has-or-says.js';
import { canMount } from '../support/small-disk.js';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** A workspace with a memory, and the texts of its files. */
async function memory() {
  const root = await mkdtemp(join(tmpdir(), 'perdure-memory-'));
  folders.push(root);
  const folder = join(root, 'memory');
  await mkdir(folder);
  const texts = async (): Promise<string> => {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.md'));
    return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('');
  };
  return { root, folder, texts, place: await openMemory({}, root) };
}

describe('a memory under faults', { timeout: 60_000 }, () => {
  it('a repeated call adds its note once, beside files of people, and in the next month', async () => {
    const { folder, texts, place } = await memory();
    await writeFile(join(folder, 'README.md'), '# About\n\nNotes.\n');
    await writeFile(join(folder, 'people.md'), '# Ann\n\nWrites.\n');
    const note = { text: 'heron', tags: [], key: 'run/1/1/0' };
    await addNote(place, note, new Date('2026-11-30T23:59:59Z'));
    expect(await addNote(place, note, new Date('2026-12-01T00:00:01Z'))).toBe('2026-11.md');
    expect((await texts()).match(/heron/gu)).toHaveLength(1);
  });

  it.runIf(hasOrSays(canMount, 'tmpfs for this user'))(
    'a note for which the disk has no room is an error, leaves nothing, and is written whole when its call is repeated',
    async () => {
      const { root, folder } = await memory();
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder]);
      try {
        await writeFile(join(folder, 'ballast'), 'x'.repeat(60 * 1024));
        const place = await openMemory({}, root);
        const note = { text: `${'word '.repeat(1_500)}END`, tags: [], key: 'run/1/1/0' };
        await expect(addNote(place, note, new Date())).rejects.toThrow(/NO_SPACE|ENOSPC/u);
        const name = (await readdir(folder)).find((each) => each.endsWith('.md')) ?? '';
        expect(await readFile(join(folder, name), 'utf8')).toBe('');
        await rm(join(folder, 'ballast'));
        expect(await addNote(place, note, new Date())).toBe(name);
        expect((await readFile(join(folder, name), 'utf8')).match(/END/gu)).toHaveLength(1);
      } finally {
        execFileSync('umount', [folder]);
      }
    },
  );

  it('a note goes to another file of the month when the first one is full; it is found, and added once', async () => {
    const { folder, texts, place } = await memory();
    const now = new Date();
    const name = await addNote(place, { text: 'first', tags: [], key: 'a' }, now);
    await appendFile(join(folder, name), `\n## log\n\n${'same words again and again\n'.repeat(700_000)}`);
    const second = await addNote(place, { text: 'heron', tags: [], key: 'b' }, now);
    expect(second).toBe(name.replace('.md', '-2.md'));
    expect(await addNote(place, { text: 'heron', tags: [], key: 'b' }, now)).toBe(second);
    expect((await texts()).match(/heron/gu)).toHaveLength(1);
    expect(await searchNotes(place, 'heron', 5)).toHaveLength(1);
  });

  it('a file that comes and goes meanwhile costs only its own notes', async () => {
    const { folder, place } = await memory();
    await addNote(place, { text: 'heron', tags: [], key: 'a' }, new Date());
    const over = new AbortController();
    // as an editor that writes anew and renames, as often as it can
    const editing = (async () => {
      while (!over.signal.aborted) {
        await writeFile(join(folder, 'x.md'), 'x');
        await rm(join(folder, 'x.md'));
      }
    })();
    for (let n = 0; n < 200; n += 1) expect(await searchNotes(place, 'heron', 5)).toHaveLength(1);
    over.abort();
    await editing;
  });

  it('a section of 16 MiB is searched up to a limit, and other work goes on meanwhile', async () => {
    const { folder, place } = await memory();
    let text = '';
    for (let n = 0; text.length < 16 * 2 ** 20; n += 1) text += `${((n * 2_654_435_761) % 2 ** 32).toString(36)}${n.toString(36)} `;
    await writeFile(join(folder, 'a.md'), `${text.slice(0, 100)} heron ${text}`);
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    const [found] = await searchNotes(place, 'heron', 5);
    clearInterval(timer);
    expect(found?.text.length).toBeLessThanOrEqual(32_000);
    expect(turns).toBeGreaterThan(0);
  });
});
