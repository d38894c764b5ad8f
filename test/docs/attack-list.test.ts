import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = `${ROOT}test/docs/attacks/`;

const Part = z.string();
const AttackClass = z.strictObject({
  attack: z.string().regex(/^[A-Z`].*[.)]$/u),
  protection: z.string().regex(/^[A-Z`0-9].*\.$/u),
  /** What a machine must have to try it, where that differs from its area. */
  needs: z.string().optional(),
  /** Files, each with parts of the titles of tests. */
  tests: z.record(z.string(), z.union([Part, z.array(Part).min(1)])),
});
const Area = z.strictObject({
  area: z.string(),
  needs: z.string().optional(),
  classes: z.record(z.string().regex(/^[a-z][a-z0-9-]*$/u), AttackClass),
});

const AREAS = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => ({ name, ...Area.parse(parse(readFileSync(FOLDER + name, 'utf8'))) }));
const CLASSES = AREAS.flatMap(({ classes }) => Object.entries(classes));

/** The titles that a report needs so that each class is held: file and title. */
const CLAIMS = CLASSES.flatMap(([, { tests }]) =>
  Object.entries(tests).flatMap(([file, parts]) => [parts].flat().map((title) => ({ file, title }))),
);

describe('the list of attacks', () => {
  it('has each class once, and more than those that were tried before 0.5', () => {
    const names = CLASSES.map(([name]) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(CLASSES.map(([, { attack }]) => attack)).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(131);
  });

  it('names files that exist', () => {
    expect([...new Set(CLAIMS.map(({ file }) => file))].filter((file) => !existsSync(ROOT + file))).toEqual([]);
  });

  it('is summed up in docs/security.md: a row for each area, with the number of its classes', () => {
    const page = readFileSync(`${ROOT}docs/security.md`, 'utf8');
    const rows = [...page.matchAll(/^\| (?<area>[^|]+) \| (?<count>\d+) \| `test\/docs\/attacks\/(?<name>[\w-]+\.yaml)` \|/gmu)].map(
      ({ groups }) => [groups?.['area'], Number(groups?.['count']), groups?.['name']],
    );
    const expected = AREAS.map(({ name, area, classes }) => [area, Object.keys(classes).length, name]);
    expect(rows).toHaveLength(expected.length);
    expect(rows).toEqual(expect.arrayContaining(expected));
    expect(page).toContain(`${CLASSES.length} classes`);
  });
});

describe('npm run attack, with a report', () => {
  it('succeeds when each class is held, and says what was not run again', async () => {
    const { code, printed } = await judge(CLAIMS);
    expect(printed).toContain(`${CLASSES.length} held, 0 held when last run, 0 not tried here, 0 broken, 0 without a test`);
    expect(printed).toContain('not tried here: nothing');
    expect(code).toBe(0);
  });

  it('fails when an attack broke through, and names the test', async () => {
    const { code, printed } = await judge(CLAIMS, { failing: 'a pipe is refused' });
    expect(printed).toMatch(/^ {2}BROKEN +0 {2}pipe-file /mu);
    expect(printed).toContain('FAILED: test/tools/workspace/jail.test.ts: a pipe is refused');
    expect(code).toBe(1);
  });

  it('fails when a class has no test with its title', async () => {
    const { code, printed } = await judge(CLAIMS.filter(({ title }) => title !== 'a pipe is refused'));
    expect(printed).toMatch(/^ {2}NO TEST +0 {2}pipe-file /mu);
    expect(code).toBe(1);
  });

  it('counts what a machine cannot try apart, and says why', async () => {
    const { code, printed } = await judge(CLAIMS, { skipped: 'memory, in a control group' });
    expect(printed).toMatch(/^ {2}not tried +0 {2}memory-bomb /mu);
    expect(printed).toContain('memory-bomb: skipped, needs namespaces and control groups: memory, in a control group');
    expect(printed).toContain('1 not tried here');
    expect(code).toBe(0);
  });

  it('counts the recorded groups by their record, and never as tried', async () => {
    const { code, printed } = await judge(CLAIMS.filter(({ file }) => !file.startsWith('test/integrations/')));
    expect(printed).toMatch(/^ {2}(?:held before|not tried) +0 {2}bucket-object /mu);
    expect(printed).toMatch(/bucket-object: (?:not run again: \d+ tests of integrations|the inputs changed since the record)/u);
    expect(code).toBe(0);
  });
});

interface Ends {
  readonly failing?: string;
  readonly skipped?: string;
}

/** What `.ci/attack.mjs` makes of a report with these tests. */
async function judge(tests: typeof CLAIMS, { failing, skipped }: Ends = {}): Promise<{ code: number; printed: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'perdure-attacks-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const end = (title: string): string => (title === failing ? '<failure/>' : title === skipped ? '<skipped/>' : ' ');
  const xml = [...new Set(tests.map(({ file }) => file))].map((file) => {
    const own = tests.filter((test) => test.file === file);
    const cases = own.map(({ title }) => `<testcase classname="x" name="${escaped(title)}">${end(title)}</testcase>`);
    return `<testsuite name="${file}">${cases.join('')}</testsuite>`;
  });
  const report = join(folder, 'junit.xml');
  await writeFile(report, `<testsuites>${xml.join('\n')}</testsuites>`);
  return await new Promise((resolve) => {
    execFile(process.execPath, [`${ROOT}.ci/attack.mjs`, report], (error, printed) => {
      resolve({ code: error ? Number(error.code) : 0, printed });
    });
  });
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
