import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll } from 'vitest';

const FOLDER = fileURLToPath(new URL('./', import.meta.url));
const ENDING = '.bundle.js.gz';

/** A build whose workflow code is kept: its name, the level of its workflow code and activities, and the path of its bundle. */
export interface SavedBundle {
  readonly release: string;
  readonly level: number;
  readonly path: string;
}

/** The kept bundles, unpacked for one test file. */
export function useSavedBundles(): readonly SavedBundle[] {
  const unpacked = mkdtempSync(join(tmpdir(), 'perdure-bundles-'));
  afterAll(() => rmSync(unpacked, { recursive: true, force: true }));
  const kept = readdirSync(FOLDER).filter((name) => name.endsWith(ENDING));
  return kept.map((name) => {
    const release = basename(name, ENDING);
    const path = join(unpacked, `${release}.js`);
    writeFileSync(path, gunzipSync(readFileSync(join(FOLDER, name))));
    // the file is named after it: its histories, and its level
    const level = Number(/-level-(?<level>\d+)$/u.exec(release)?.groups?.['level']);
    return { release, level, path };
  });
}
