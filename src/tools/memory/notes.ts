import { createHash } from 'node:crypto';
import { MEMORY_LIMITS } from '../../contracts/constants/limits.js';

/** A note of a memory: a section of a Markdown file. */
export interface Note {
  /** The file, relative to the memory, and its line. */
  readonly place: string;
  /** The heading of the section; empty for text before the first one. */
  readonly title: string;
  readonly text: string;
  /** Without `#`. */
  readonly tags: readonly string[];
}

/** What is written. */
export interface NewNote {
  readonly text: string;
  readonly tags: readonly string[];
  /** The same for every attempt of a call. */
  readonly key: string;
}

/** The mark of a note, which finds it again when its call is repeated. */
export function noteMark(key: string): string {
  return `<!-- note ${createHash('sha256').update(key).digest('hex').slice(0, 16)} -->`;
}

/** A note as a section of a file: `## DATE TIME #tag`, its text, its mark: a note whose write was cut has none. Headings of the text become smaller ones. */
export function formatNote({ text, tags, key }: NewNote, now: Date): string {
  const at = now.toISOString().slice(0, 16).replace('T', ' ');
  const heading = ['##', at, ...tags.map((tag) => `#${tag}`)].join(' ');
  return `\n${heading}\n\n${text.trim().replaceAll(/^#{1,2} /gmu, '### ')}\n\n${noteMark(key)}\n`;
}

const HEADING = /^#{1,2} (?<title>.+)$/u;
const TAG = /(?:^|\s)#(?<tag>[\p{L}\p{N}_-]+)/gu;
const MARK = /^<!-- note [0-9a-f]+ -->$/u;

/** The notes of a file: its sections of level 1 and 2. Empty ones are left out. Takes linear time. */
export function parseNotes(file: string, content: string): Note[] {
  const notes: Note[] = [];
  let title = '';
  let line = 1;
  let text: string[] = [];
  const end = (): void => {
    const body = text.join('\n').trim().slice(0, MEMORY_LIMITS.sectionCharsMax);
    const tags = [...title.matchAll(TAG)].map(({ groups }) => groups?.['tag'] ?? '');
    if (body !== '') notes.push({ place: `${file}:${line}`, title: title.replaceAll(TAG, '').trim(), text: body, tags });
  };
  for (const [index, each] of content.split(/\r?\n/u).entries()) {
    const heading = HEADING.exec(each)?.groups?.['title'];
    if (heading === undefined) {
      if (!MARK.test(each)) text.push(each);
      continue;
    }
    end();
    title = heading;
    line = index + 1;
    text = [];
  }
  end();
  return notes;
}
