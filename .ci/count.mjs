// Adds up the test reports and prints `N passed, N failed` as the last line. A report that is missing counts as one failure.
import { readFileSync } from 'node:fs';

let passed = 0;
let failed = 0;
for (const file of process.argv.slice(2)) {
  const counts = read(file);
  passed += counts.passed;
  failed += counts.failed;
}
console.log(`${passed} passed, ${failed} failed`);

/** Sums the suites of a report; what was skipped is neither passed nor failed. */
function read(file) {
  try {
    const suites = readFileSync(file, 'utf8').match(/<testsuite [^>]*>/gu) ?? [];
    const sum = (name) => suites.reduce((total, suite) => total + attribute(suite, name), 0);
    return { passed: sum('tests') - sum('failures') - sum('errors') - sum('skipped'), failed: sum('failures') + sum('errors') };
  } catch (error) {
    console.error(`no report: ${error.message}`);
    return { passed: 0, failed: 1 };
  }
}

function attribute(tag, name) {
  return Number(new RegExp(` ${name}="(\\d+)"`, 'u').exec(tag)?.[1] ?? 0);
}
