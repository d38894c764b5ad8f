// Adds up the test reports: prints the ten files that took longest, and `N passed, N failed` as the last line.
// A report that is missing counts as one failure.
import { readFileSync } from 'node:fs';

const SLOWEST = 10;

let passed = 0;
let failed = 0;
const files = [];
for (const report of process.argv.slice(2)) {
  const counts = read(report);
  passed += counts.passed;
  failed += counts.failed;
  files.push(...counts.files);
}
console.log('slowest test files:');
for (const { name, seconds } of files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST)) {
  console.log(`${seconds.toFixed(1).padStart(8)} s  ${name}`);
}
console.log(`${passed} passed, ${failed} failed`);

/** Sums the suites of a report, one for each file; what was skipped is neither passed nor failed. */
function read(report) {
  try {
    const suites = readFileSync(report, 'utf8').match(/<testsuite [^>]*>/gu) ?? [];
    const sum = (name) => suites.reduce((total, suite) => total + Number(attribute(suite, name)), 0);
    return {
      passed: sum('tests') - sum('failures') - sum('errors') - sum('skipped'),
      failed: sum('failures') + sum('errors'),
      files: suites.map((suite) => ({ name: attribute(suite, 'name'), seconds: Number(attribute(suite, 'time')) })),
    };
  } catch (error) {
    console.error(`no report: ${error.message}`);
    return { passed: 0, failed: 1, files: [] };
  }
}

function attribute(tag, name) {
  return new RegExp(` ${name}="([^"]*)"`, 'u').exec(tag)?.[1] ?? '0';
}
