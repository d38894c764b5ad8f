import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FileJournal } from '../../../../src/channels/journal/file-journal.js';
import type { JournalRecord } from '../../../../src/channels/journal/journal-record.js';

let folder = '';
let path = '';
const journals: FileJournal[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'perdure-journal-'));
  path = join(folder, 'team.jsonl');
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const journal of journals.splice(0)) await journal.close();
  await rm(folder, { recursive: true, force: true });
});

function openJournal(onDamage?: (line: string) => void): FileJournal {
  const opened = new FileJournal(path, onDamage);
  journals.push(opened);
  return opened;
}

function received(id: string): JournalRecord {
  return { type: 'received', conversation: 'c', id, at: 1 };
}

/** The next write of any file fails after half of its text, as on a full disk. */
async function failNextWrite(): Promise<void> {
  const probe = await open(join(folder, 'probe'), 'w');
  const prototype = Object.getPrototypeOf(probe) as typeof probe;
  await probe.close();
  vi.spyOn(prototype, 'appendFile').mockImplementationOnce(async function (this: typeof probe, data) {
    await this.writeFile(String(data).slice(0, 20));
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  });
}

describe('FileJournal', () => {
  it('a record after one that could not be written is whole, and only the broken one is lost', async () => {
    const first = openJournal();
    await first.read();
    await first.append(received('1'));
    await failNextWrite();
    await expect(first.append(received('2'))).rejects.toThrow('no space left');
    await first.append(received('3'));
    await first.close();
    const damaged: string[] = [];
    expect(await openJournal((line) => damaged.push(line)).read()).toEqual([received('1'), received('3')]);
    expect(damaged).toEqual(['{"type":"received","']);
  });

  it('the end that a killed writer left is reported and dropped, and the next record begins a line', async () => {
    await writeFile(path, `${JSON.stringify(received('1'))}\n{"type":"recei`);
    const damaged: string[] = [];
    const opened = openJournal((line) => damaged.push(line));
    expect(await opened.read()).toEqual([received('1')]);
    expect(damaged).toEqual(['{"type":"recei']);
    await opened.append(received('2'));
    expect((await readFile(path, 'utf8')).split('\n').at(-2)).toBe(JSON.stringify(received('2')));
  });

  it('a whole record without its line break counts', async () => {
    await writeFile(path, JSON.stringify(received('1')));
    const opened = openJournal();
    expect(await opened.read()).toEqual([received('1')]);
    await opened.append(received('2'));
    await opened.close();
    expect(await openJournal().read()).toEqual([received('1'), received('2')]);
  });

  it('a journal that is open cannot be opened again, until it is closed', async () => {
    const first = openJournal();
    await first.append(received('1'));
    const second = openJournal();
    const used = { code: 'JOURNAL_IN_USE', exitCode: 4, message: expect.stringContaining(`${path} is open in process ${process.pid}`) };
    await expect(second.read()).rejects.toMatchObject(used);
    await expect(second.append(received('2'))).rejects.toMatchObject(used);
    await expect(second.replace([])).rejects.toMatchObject(used);
    await first.close();
    expect(await second.read()).toEqual([received('1')]);
  });

  it('the lock dies with its process', async () => {
    const module = join(import.meta.dirname, '../../../../dist/channels/index.js');
    const script = `const { FileJournal } = await import(${JSON.stringify(module)});
      const journal = new FileJournal(${JSON.stringify(path)});
      await journal.read();
      console.log('open');
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    const mine = openJournal();
    try {
      await once(child.stdout, 'data');
      await expect(mine.read()).rejects.toMatchObject({ code: 'JOURNAL_IN_USE' });
    } finally {
      child.kill('SIGKILL');
      await ended;
    }
    await appendFile(path, `${JSON.stringify(received('1'))}\n`);
    expect(await mine.read()).toEqual([received('1')]);
  });
});
