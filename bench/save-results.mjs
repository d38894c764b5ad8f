import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { formatTable, ratiosOf } from './table.mjs';

const FOLDER = fileURLToPath(new URL('results/', import.meta.url));

/**
 * Keeps the figures of a release: `NAME.json` with everything measured, and `NAME.md` with the table. Scenarios that were not measured this
 * time keep their earlier figures.
 */
export async function saveResults({ name, machine, results }) {
  await mkdir(FOLDER, { recursive: true });
  const file = `${FOLDER}${name}.json`;
  const before = JSON.parse(await readFile(file, 'utf8').catch(() => '{}'));
  const all = { ...before.results, ...results };
  const ratios = ratiosOf(all);
  await writeFile(file, `${JSON.stringify({ machine, results: all, ratios }, null, 2)}\n`);
  await writeFile(`${FOLDER}${name}.md`, `# Benchmark: ${name}\n\n\`\`\`text\n${formatTable(all, ratios)}\n\`\`\`\n`);
}
