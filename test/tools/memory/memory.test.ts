import { link, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ToolContext } from '../../../src/define/define-tool.js';
import type { MemoryDefinition } from '../../../src/define/worker/memory.js';
import { createMemoryTools } from '../../../src/tools/memory/memory-tools.js';
import { parseNotes } from '../../../src/tools/memory/notes.js';
import { useTempFolder } from '../../support/temp-folder.js';

const MONTH = `${new Date().toISOString().slice(0, 7)}.md`;

describe('the memory of agents', () => {
  const folder = useTempFolder('perdure-memory-');

  async function use(name: string, args: object, { memory = {}, key = 'k', workspace = folder.path }: UseOptions = {}): Promise<string> {
    const tool = createMemoryTools(memory).find((each) => each.name === name);
    if (!tool) throw new Error(`no tool ${name}`);
    const context = { workspace, idempotencyKey: key, signal: new AbortController().signal } as unknown as ToolContext;
    const result = await tool.execute(tool.parameters.parse(args) as never, context);
    if (typeof result !== 'string') throw new Error('the tools of a memory return text');
    return result;
  }

  it('a note is a section of a Markdown file of the workspace, found by its words, its tags, and by words with a mistake', async () => {
    await use('remember', { text: 'The staging database is called heron.', tags: ['deploy'] }, { key: 'a' });
    await use('remember', { text: 'Invoices are sent on Mondays.' }, { key: 'b' });
    const file = await readFile(join(folder.path, 'memory', MONTH), 'utf8');
    expect(file).toMatch(
      /^## \d{4}-\d\d-\d\d \d\d:\d\d #deploy\n\nThe staging database is called heron\.\n\n<!-- note [0-9a-f]{16} -->$/mu,
    );
    for (const query of ['heron', 'deploy', 'databse', 'STAG']) {
      expect(await use('recall', { query })).toMatch(/^\[\d{4}-\d\d\.md:2 .* #deploy\]\nThe staging database is called heron\.$/u);
    }
    expect(await use('recall', { query: 'zebra' })).toBe('no note has these words');
  });

  it('a number with another digit is another thing', async () => {
    await use('remember', { text: 'Order 104711 was refunded.' }, { key: 'a' });
    expect(await use('recall', { query: '104712' })).toBe('no note has these words');
    expect(await use('recall', { query: '104711' })).toContain('was refunded');
  });

  it('a call that is repeated adds its note once', async () => {
    for (const _ of [1, 2, 3]) expect(await use('remember', { text: 'once' }, { key: 'same' })).toBe(`remembered in ${MONTH}`);
    expect((await readFile(join(folder.path, 'memory', MONTH), 'utf8')).match(/^once$/gmu)).toHaveLength(1);
  });

  it('notes that are written at the same time are all kept', async () => {
    await Promise.all(Array.from({ length: 40 }, (_, n) => use('remember', { text: `fact number${n}` }, { key: `k${n}` })));
    const file = await readFile(join(folder.path, 'memory', MONTH), 'utf8');
    expect(new Set(file.match(/fact number\d+/gu))).toHaveLength(40);
    expect(await use('recall', { query: 'number17' })).toContain('fact number17');
  });

  it('files of people are read too, and what they change or remove is followed', async () => {
    await mkdir(join(folder.path, 'memory'));
    const path = join(folder.path, 'memory', 'people.md');
    await writeFile(path, '# Ada #team\nAda likes tea.\n\n## Bob\nBob drinks coffee.\n');
    expect(await use('recall', { query: 'tea' })).toBe('[people.md:1 Ada #team]\nAda likes tea.');
    await writeFile(path, '## Ada\nAda drinks water.\n');
    expect(await use('recall', { query: 'tea' })).toBe('no note has these words');
    expect(await use('recall', { query: 'water' })).toContain('Ada drinks water.');
    await rm(path);
    expect(await use('recall', { query: 'water' })).toBe('no note has these words');
  });

  it('scope user is one folder for all workspaces; scope workspace needs one', async () => {
    const memory = { scope: 'user', folder: join(folder.path, 'own') } as const;
    await use('remember', { text: 'shared by all' }, { memory, workspace: '/nowhere' });
    expect(await use('recall', { query: 'shared' }, { memory })).toContain('shared by all');
    await expect(use('recall', { query: 'x' }, { workspace: '/no/such/folder' })).rejects.toThrow('does not exist');
  });

  it('X leaves the workspace by no link, and writes to no file with a second name', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'perdure-outside-'));
    try {
      await writeFile(join(outside, 'secret.md'), '## s\nsecret word');
      await symlink(outside, join(folder.path, 'memory'));
      await expect(use('remember', { text: 'x' })).rejects.toThrow('outside the workspace');
      await rm(join(folder.path, 'memory'));
      await mkdir(join(folder.path, 'memory'));
      await symlink(join(outside, 'secret.md'), join(folder.path, 'memory', 'a.md'));
      expect(await use('recall', { query: 'secret' })).toBe('no note has these words');
      await writeFile(join(outside, 'two.md'), '');
      await link(join(outside, 'two.md'), join(folder.path, 'memory', MONTH));
      await expect(use('remember', { text: 'x' }, { key: 'new' })).rejects.toThrow('second hard link');
      expect(await readFile(join(outside, 'two.md'), 'utf8')).toBe('');
    } finally {
      await rm(outside, { recursive: true, force: true });
    }
  });

  it.each<[what: string, args: object, problem: RegExp]>([
    ['an empty note', { text: ' \n ' }, /is empty/u],
    ['a note that is too long', { text: 'x'.repeat(8_001) }, /longer than 8000 characters/u],
    ['a tag with a line break', { text: 'x', tags: ['a\n## b'] }, /letters, digits/u],
  ])('%s is refused', async (_, args, problem) => {
    await expect(use('remember', args)).rejects.toThrow(problem);
  });

  it('headings in a note do not split it', async () => {
    await use('remember', { text: '# Title\nfirst\n## Second\nlast' });
    expect(await use('recall', { query: 'first' })).toMatch(/### Title\nfirst\n### Second\nlast$/u);
    expect(parseNotes('a.md', 'no heading at all')).toEqual([{ place: 'a.md:1', title: '', text: 'no heading at all', tags: [] }]);
  });
});

interface UseOptions {
  readonly memory?: MemoryDefinition;
  readonly key?: string;
  readonly workspace?: string;
}
