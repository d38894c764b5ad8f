// Tries the attacks of test/docs/attacks/*.yaml, and prints a table of the classes: held, BROKEN, or not tried here, with the reason.
//   node .ci/attack.mjs            runs the tests that the list names
//   node .ci/attack.mjs REPORT…    runs nothing: counts them in reports of vitest (JUnit)
// A class names test files, each with a part of the titles of its tests. Tests of the groups of .ci/record.json that are in no report count
// as the record says. Fails if an attack broke through, or if a class has no test with that title.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { readSuites } from './junit.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LIST = `${ROOT}test/docs/attacks/`;

/** Files that no report has unless their group ran. Looked up when a report lacks a file: the list takes seconds. */
let endToEnd;
const isIntegration = (file) => file.startsWith('test/integrations/');
const groupOf = (file) => {
  if (isIntegration(file)) return 'integrations';
  endToEnd ??= new Set(filesOf('e2e'));
  return endToEnd.has(file) ? 'e2e' : undefined;
};

const areas = readdirSync(LIST)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => parse(readFileSync(LIST + name, 'utf8')));
const reports = process.argv.length > 2 ? process.argv.slice(2) : [runAll()];
const suites = new Map(reports.flatMap((report) => [...readSuites(readFileSync(report, 'utf8'))]));
const records = new Map();

const sums = { held: 0, 'held before': 0, 'not tried': 0, BROKEN: 0, 'NO TEST': 0 };
const tried = new Set();
const notTried = [];
for (const { area, needs, classes } of areas) {
  console.log(`\n${area}`);
  for (const [id, one] of Object.entries(classes)) {
    const claims = Object.entries(one.tests).flatMap(([file, parts]) => [parts].flat().map((part) => judged(file, part)));
    const state = verdict(claims, one.needs ?? needs);
    const passed = claims.flatMap(({ passed: tests }) => tests);
    for (const test of passed) tried.add(test);
    sums[state] += 1;
    console.log(`  ${state.padEnd(11)} ${String(passed.length).padStart(4)}  ${id.padEnd(26)} ${one.attack}`);
    for (const line of reasons(claims, one.needs ?? needs)) {
      console.log(`${' '.repeat(20)}${line}`);
      notTried.push(`${id}: ${line}`);
    }
  }
}
const count = Object.values(sums).reduce((all, each) => all + each, 0);
console.log(`\nnot tried here:${notTried.length === 0 ? ' nothing' : ''}`);
for (const line of notTried) console.log(`  ${line}`);
console.log(`\n${count} classes of attack, tried in ${tried.size} tests:`);
console.log(
  `${sums.held} held, ${sums['held before']} held when last run, ${sums['not tried']} not tried here, ` +
    `${sums.BROKEN} broken, ${sums['NO TEST']} without a test`,
);
process.exitCode = sums.BROKEN + sums['NO TEST'] > 0 ? 1 : 0;

/** The tests of a file with a part in their titles, by how they ended. */
function judged(file, part) {
  const tests = (suites.get(file) ?? []).filter(({ name }) => name.includes(part));
  const of = (state) => tests.filter((test) => test.state === state);
  const group = suites.has(file) ? undefined : groupOf(file);
  // a title of a recorded group is looked for in the text of its file
  const isNamed = tests.length > 0 || (group !== undefined && readFileSync(ROOT + file, 'utf8').includes(part));
  const ended = { passed: of('passed'), failed: of('failed'), skipped: of('skipped') };
  return { file, part, isNamed, isReported: suites.has(file), ...ended, record: group && recordOf(group) };
}

/** `needs` names what a machine must have. Where it is missing, the file of a claim may have no such test. */
function verdict(claims, needs) {
  if (claims.some(({ failed }) => failed.length > 0)) return 'BROKEN';
  if (claims.some(({ isNamed, isReported }) => !isNamed && (needs === undefined || !isReported))) return 'NO TEST';
  if (claims.some(({ passed }) => passed.length > 0)) return 'held';
  return claims.some(({ record }) => record?.isCurrent) ? 'held before' : 'not tried';
}

function reasons(claims, needs) {
  return claims.flatMap(({ file, part, isNamed, failed, skipped, record }) => [
    ...failed.map(({ name }) => `FAILED: ${file}: ${name}`),
    ...skipped.map(({ name }) => `skipped${needs === undefined ? '' : `, needs ${needs}`}: ${name}`),
    ...(isNamed ? [] : [needs === undefined ? `no test: ${file}: ${part}` : `needs ${needs}: ${file}: ${part}`]),
    ...(record === undefined ? [] : [record.line]),
  ]);
}

/** The line of .ci/record.mjs about a group. */
function recordOf(group) {
  if (!records.has(group)) {
    const { status, stdout } = spawnSync(process.execPath, ['.ci/record.mjs', 'check', group], { cwd: ROOT, encoding: 'utf8' });
    records.set(group, { isCurrent: status === 0, line: stdout.trim() });
  }
  return records.get(group);
}

/** The files of a project of vitest.config.ts. */
function filesOf(project) {
  const args = ['vitest', 'list', '--project', project, '--filesOnly', '--json'];
  const { status, stdout, stderr } = spawnSync('npx', args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`the files of project ${project} are not known: ${stderr}`);
  return JSON.parse(stdout).map(({ file }) => file.slice(ROOT.length));
}

function runAll() {
  const output = 'coverage/junit-attack.xml';
  const files = new Set(areas.flatMap(({ classes }) => Object.values(classes).flatMap(({ tests }) => Object.keys(tests))));
  const here = [...files].filter((file) => !isIntegration(file));
  const reporters = ['--reporter=dot', '--reporter=junit', `--outputFile.junit=${output}`];
  const args = ['vitest', 'run', '--project', 'perdure', '--project', 'e2e', ...reporters, ...here];
  spawnSync('npx', args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
  return ROOT + output;
}
