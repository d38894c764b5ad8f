import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const TESTS = fileURLToPath(new URL('..', import.meta.url));
/** What skips a test without a word: `runIf` says it with `hasOrSays`. */
const SILENT = /\.(?:skipIf|skip|todo)\(|\.runIf\((?!hasOrSays\()/u;

it('no test is skipped in silence: a machine that cannot try it prints what is missing', () => {
  const files = readdirSync(TESTS, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((file) => SILENT.test(readFileSync(join(TESTS, file), 'utf8')))).toEqual([]);
});
