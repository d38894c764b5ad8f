import { setImmediate as immediate } from 'node:timers/promises';
import type MiniSearch from 'minisearch';
import { MEMORY_LIMITS } from '../../contracts/constants/limits.js';
import { listNoteFiles, type MemoryPlace, readNoteFile } from './memory-folder.js';
import { type Note, parseNotes } from './notes.js';

/** A note with an id of the index. */
interface IndexedNote extends Note {
  readonly id: number;
}

/** The index of one memory, which follows its files. */
interface MemoryIndex {
  readonly search: MiniSearch<IndexedNote>;
  readonly notes: Map<number, IndexedNote>;
  /** The ids of the notes of each file, and its version. */
  readonly files: Map<string, { readonly version: string; readonly ids: readonly number[] }>;
  nextId: number;
  /** Updates come one after the other. */
  updated: Promise<void>;
}

/** The indexes of a worker, the last used one last. They hold what the files hold, and are built from them when they are needed. */
const indexes = new Map<string, MemoryIndex>();

/** The notes that match the words of a query best. Reads only files that changed since the last search. Reads none for a query without words. */
export async function searchNotes(place: MemoryPlace, query: string, limit: number): Promise<Note[]> {
  const index = await indexOf(place);
  index.updated = index.updated.catch(() => undefined).then(() => update(index, place));
  await index.updated;
  const found = index.search.search(query, { prefix: (term) => term.length > 2, fuzzy: (term) => (mayBeMisspelt(term) ? 0.2 : false) });
  return found.slice(0, limit).flatMap(({ id }) => index.notes.get(id as number) ?? []);
}

/** A number that differs in one digit is another thing: an order, a date, an address. */
function mayBeMisspelt(term: string): boolean {
  return term.length > 4 && !/\d/u.test(term);
}

async function indexOf({ jail, folder }: MemoryPlace): Promise<MemoryIndex> {
  const key = `${jail.root}\0${folder}`;
  const known = indexes.get(key) ?? (await newIndex());
  indexes.delete(key);
  indexes.set(key, known);
  const [oldest] = indexes.keys();
  if (indexes.size > MEMORY_LIMITS.indexesMax && oldest !== undefined) indexes.delete(oldest);
  return known;
}

async function newIndex(): Promise<MemoryIndex> {
  const { default: Search } = await import('minisearch');
  const search = new Search<IndexedNote>({
    fields: ['title', 'tags', 'text'],
    extractField: (note, field) => (field === 'tags' ? note.tags.join(' ') : (Reflect.get(note, field) as string)),
    searchOptions: { boost: { tags: 2, title: 1.5 } },
  });
  return { search, notes: new Map(), files: new Map(), nextId: 0, updated: Promise.resolve() };
}

async function update(index: MemoryIndex, place: MemoryPlace): Promise<void> {
  const present = await listNoteFiles(place);
  const names = new Set(present.map(({ name }) => name));
  for (const name of index.files.keys()) if (!names.has(name)) forget(index, name);
  for (const { name, version } of present) {
    if (index.files.get(name)?.version === version) continue;
    // a file that is gone by now, or is no file of text, costs only its own notes
    const content = await readNoteFile(place, name).catch(() => undefined);
    forget(index, name);
    if (content === undefined) continue;
    const notes = parseNotes(name, content).map((note) => ({ ...note, id: index.nextId++ }));
    index.files.set(name, { version, ids: notes.map(({ id }) => id) });
    await addAll(index, notes);
  }
}

/** Adds notes, with a pause for the other work of this process now and then. */
async function addAll({ search, notes: known }: MemoryIndex, notes: readonly IndexedNote[]): Promise<void> {
  let chars = 0;
  for (const note of notes) {
    search.add(note);
    known.set(note.id, note);
    chars += note.text.length;
    if (chars < CHARS_AT_ONCE) continue;
    chars = 0;
    await immediate();
  }
}

const CHARS_AT_ONCE = 100_000;

function forget(index: MemoryIndex, name: string): void {
  const ids = index.files.get(name)?.ids ?? [];
  index.search.discardAll(ids);
  for (const id of ids) index.notes.delete(id);
  index.files.delete(name);
}
