// Adds up the test reports: prints the ten files that took longest, what failed, and `N passed, N failed` as the last line.
// A report that is missing counts as one failure.
import { readFileSync } from 'node:fs';
import { readSuites } from './junit.mjs';

const SLOWEST = 10;
const MESSAGE_CHARS = 200;

let passed = 0;
let failed = 0;
const files = [];
const failures = [];
for (const report of process.argv.slice(2)) {
  const counts = read(report);
  passed += counts.passed;
  failed += counts.failed;
  files.push(...counts.files);
  failures.push(...counts.failures);
}
console.log('slowest test files:');
for (const { name, seconds } of files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST)) {
  console.log(`${seconds.toFixed(1).padStart(8)} s  ${name}`);
}
for (const line of failures) console.log(`FAILED: ${line}`);
console.log(`${passed} passed, ${failed} failed`);

/** Sums the suites of a report, one for each file; what was skipped is neither passed nor failed. */
function read(report) {
  try {
    const text = readFileSync(report, 'utf8');
    const suites = text.match(/<testsuite [^>]*>/gu) ?? [];
    const sum = (name) => suites.reduce((total, suite) => total + Number(attribute(suite, name)), 0);
    return {
      passed: sum('tests') - sum('failures') - sum('errors') - sum('skipped'),
      failed: sum('failures') + sum('errors'),
      files: suites.map((suite) => ({ name: attribute(suite, 'name'), seconds: Number(attribute(suite, 'time')) })),
      failures: failuresOf(text),
    };
  } catch (error) {
    console.error(`no report: ${error.message}`);
    return { passed: 0, failed: 1, files: [], failures: [`no report: ${error.message}`] };
  }
}

/** A line for each test that failed: its file, its title, and the start of its message. */
function failuresOf(text) {
  return [...readSuites(text)].flatMap(([file, tests]) =>
    tests.filter(({ state }) => state === 'failed').map(({ name, message }) => `${file}: ${name}: ${message.slice(0, MESSAGE_CHARS)}`),
  );
}

function attribute(tag, name) {
  return new RegExp(` ${name}="([^"]*)"`, 'u').exec(tag)?.[1] ?? '0';
}
