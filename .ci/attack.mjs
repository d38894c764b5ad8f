// Runs the attacks of docs/security.md and prints which of them were held. With a report of vitest (JUnit) as argument, nothing runs: the
// attacks are counted in it. A name in parentheses behind a file picks its tests by a part of their titles. Fails when an attack broke through, or was not tried at all.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const rows = attacks(readFileSync(`${ROOT}docs/security.md`, 'utf8'));
const report = process.argv[2] ?? runAll([...new Set(rows.flatMap(({ tests }) => tests.map(({ file }) => file)))]);
const suites = readSuites(readFileSync(report, 'utf8'));

const sum = { held: 0, broken: 0, untried: 0 };
const untried = [];
const tried = new Set();
for (const { attack, tests: named } of rows) {
  const tests = named.flatMap(({ file, part }) => (suites.get(file) ?? []).filter(({ name }) => name.includes(part)));
  for (const test of tests) if (test.state === 'passed') tried.add(test);
  const count = (state) => tests.filter((test) => test.state === state).length;
  const [held, broken, skipped] = [count('passed'), count('failed'), count('skipped')];
  const verdict = broken > 0 ? 'BROKEN' : held === 0 ? 'NOT TRIED' : 'held';
  console.log(`${verdict.padEnd(10)} ${String(held).padStart(3)} of ${String(tests.length).padStart(3)}  ${attack}`);
  untried.push(...tests.filter(({ state }) => state === 'skipped').map(({ name }) => name));
  sum.held += verdict === 'held' ? 1 : 0;
  sum.broken += verdict === 'BROKEN' ? 1 : 0;
  sum.untried += verdict === 'NOT TRIED' ? 1 : 0;
  if (skipped > 0) console.log(`${' '.repeat(11)}${skipped} could not be tried on this machine`);
}
for (const name of new Set(untried)) console.log(`not tried here: ${name}`);
console.log(`${tried.size} ways of ${rows.length} attacks were tried`);
console.log(`${sum.held} held, ${sum.broken} broken, ${sum.untried} not tried`);
process.exitCode = sum.broken + sum.untried > 0 ? 1 : 0;

/** The rows of the table of attacks, with the tests that show each. */
function attacks(page) {
  const [, section = ''] = page.split('\n## Attacks\n');
  const lines = section
    .split('\n## ', 1)[0]
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1);
  return lines.map((line) => {
    const [, attack = '', , tests = ''] = line.split(' | ').flatMap((cell, at) => (at === 0 ? ['', cell.slice(2)] : [cell]));
    return { attack, tests: [...tests.matchAll(/`([^`]+)`(?: \(([^)]+)\))?/gu)].map(([, file, part = '']) => ({ file, part })) };
  });
}

function runAll(files) {
  const output = `${ROOT}coverage/junit-attack.xml`;
  const args = [
    'vitest',
    'run',
    '--project',
    'perdure',
    '--reporter=dot',
    '--reporter=junit',
    '--outputFile.junit=coverage/junit-attack.xml',
    ...files,
  ];
  spawnSync('npx', args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
  return output;
}

/** The tests of each file, with how they ended. */
function readSuites(xml) {
  const found = new Map();
  for (const [, file, body] of xml.matchAll(/<testsuite name="([^"]*)"[^>]*>([\s\S]*?)<\/testsuite>/gu)) {
    const tests = [...body.matchAll(/<testcase [^>]*? name="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/gu)].map(
      ([, name, inner = '']) => ({
        name: plain(name),
        state: /<(?:failure|error)/u.test(inner) ? 'failed' : inner.includes('<skipped') ? 'skipped' : 'passed',
      }),
    );
    found.set(file, tests);
  }
  return found;
}

function plain(text) {
  return text.replaceAll('&gt;', '>').replaceAll('&lt;', '<').replaceAll('&apos;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}
