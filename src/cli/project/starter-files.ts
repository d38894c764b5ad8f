import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { starterManifest } from './starter-manifest.js';
import type { NewFile } from './write-files.js';

const TEMPLATE = fileURLToPath(new URL('../../../templates/starter', import.meta.url));
/** npm leaves files of the name `.gitignore` out of a package. */
const RENAMED: Readonly<Record<string, string>> = { gitignore: '.gitignore' };

/** The files of a new project in `folder`, sorted by path: those of the template, and a `package.json` for this version of the package. */
export async function starterFiles(folder: string): Promise<NewFile[]> {
  const entries = await readdir(TEMPLATE, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => relative(TEMPLATE, join(parentPath, name)));
  const files = await Promise.all(
    paths.map(async (path) => ({ path: RENAMED[path] ?? path, text: await readFile(join(TEMPLATE, path), 'utf8') })),
  );
  return [...files, { path: 'package.json', text: await starterManifest(folder) }].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
