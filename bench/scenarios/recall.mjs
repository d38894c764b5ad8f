import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMemoryTools } from '../../dist/tools/memory/memory-tools.js';
import { median, round } from '../statistics.mjs';

const NOTES = 10_000;
const NOTES_A_FILE = 200;
const SEARCHES = 200;
const SUBJECTS = [
  'invoice',
  'deployment',
  'customer',
  'database',
  'migration',
  'contract',
  'refund',
  'certificate',
  'warehouse',
  'holiday',
];
const FACTS = ['is due on Friday', 'needs an approval of two people', 'was moved to the second region', 'must not be changed by hand'];

/**
 * (n): an answer of the tool `recall` over 10,000 notes in Markdown files. `firstMs` reads and indexes all of them; the later ones read what
 * changed, and one note is added before each tenth.
 */
export async function recall() {
  const workspace = await mkdtemp(join(tmpdir(), 'perdure-bench-recall-'));
  try {
    await writeNotes(join(workspace, 'memory'));
    const [remember, search] = createMemoryTools({ scope: 'workspace' });
    const ask = async (at) => {
      const number = (at * 37) % NOTES;
      const word = `ticket${number}`;
      const startedAt = performance.now();
      const answer = await search.execute({ query: `${SUBJECTS[number % SUBJECTS.length]} ${word}` }, { workspace });
      const took = performance.now() - startedAt;
      if (!answer.includes(`${word} `)) throw new Error(`recall did not find ${word}`);
      return took;
    };
    const firstMs = await ask(0);
    const times = { unchanged: [], afterNote: [] };
    for (let at = 1; at <= SEARCHES; at += 1) {
      const isAfterNote = at % 10 === 0;
      if (isAfterNote) await note(remember, { workspace, at });
      times[isAfterNote ? 'afterNote' : 'unchanged'].push(await ask(at));
    }
    const sorted = times.unchanged.toSorted((a, b) => a - b);
    return {
      notes: NOTES,
      firstMs: round(firstMs),
      recallMs: round(median(times.unchanged)),
      recallP95Ms: round(sorted[Math.floor(sorted.length * 0.95)]),
      afterNoteMs: round(median(times.afterNote)),
    };
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

async function writeNotes(folder) {
  await mkdir(folder);
  for (let file = 0; file < NOTES / NOTES_A_FILE; file += 1) {
    const notes = Array.from({ length: NOTES_A_FILE }, (_, index) => {
      const at = file * NOTES_A_FILE + index;
      return `## 2026-01-01 10:00 #team${at % 20}\n\nThe ${SUBJECTS[at % SUBJECTS.length]} of ticket${at} ${FACTS[at % FACTS.length]}.\n`;
    });
    await writeFile(join(folder, `notes-${String(file).padStart(3, '0')}.md`), notes.join('\n'));
  }
}

function note(remember, { workspace, at }) {
  return remember.execute(
    { text: `note ${at} of this run` },
    { workspace, idempotencyKey: `bench-${at}`, signal: new AbortController().signal },
  );
}
