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
  /** Whether its release ends with this level: fleets of users have run it, and not only those of people who build from the sources. */
  readonly isLastOfRelease: boolean;
}

/** The kept bundles, unpacked for one test file. */
export function useSavedBundles(): readonly SavedBundle[] {
  const unpacked = mkdtempSync(join(tmpdir(), 'perdure-bundles-'));
  afterAll(() => rmSync(unpacked, { recursive: true, force: true }));
  const kept = readdirSync(FOLDER).filter((name) => name.endsWith(ENDING));
  const named = kept.map((name) => levelOf(basename(name, ENDING)));
  return named.map(({ release, version, level }) => {
    const path = join(unpacked, `${release}.js`);
    writeFileSync(path, gunzipSync(readFileSync(join(FOLDER, `${release}${ENDING}`))));
    const isLastOfRelease = named.every((other) => other.version !== version || other.level <= level);
    return { release, level, path, isLastOfRelease };
  });
}

/** A bundle is named after its release and its level: `0.5-level-9`. */
function levelOf(release: string): { readonly release: string; readonly version: string; readonly level: number } {
  const [version, level] = release.split('-level-');
  return { release, version: version ?? release, level: Number(level) };
}
