// The record of the end-to-end tests: for which inputs they passed. They start some hundred processes and take as long as all other tests
// together, so `.ci/run` runs them only for inputs that they have not passed for yet.
//   node .ci/e2e-record.mjs check   exit 0 and one line if the record is of the present inputs; else exit 1 and why
//   node .ci/e2e-record.mjs write   after they passed (npm run test:e2e): the record of the present inputs
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RECORD = `${ROOT}.ci/e2e-record.json`;
/** All that can change what these tests show: what they run, and they themselves. */
const INPUTS = [
  'bin',
  'examples',
  'package.json',
  'package-lock.json',
  'src',
  'templates',
  'test/e2e',
  'test/cli',
  'test/support',
  'test/worker',
  'tsconfig.build.json',
  'vitest.config.ts',
];

const [verb] = process.argv.slice(2);
if (verb === 'write') write();
else if (verb === 'check') check();
else throw new Error('use check or write');

function write() {
  const { passed, failed } = countsOf(readFileSync(`${ROOT}coverage/junit-e2e.xml`, 'utf8'));
  if (failed > 0 || passed === 0) throw new Error(`${passed} passed, ${failed} failed: nothing to record`);
  const record = { inputs: hashOfInputs(), passed, date: new Date().toISOString().slice(0, 10) };
  writeFileSync(RECORD, `${JSON.stringify(record, undefined, 2)}\n`);
  console.log(`recorded in .ci/e2e-record.json: ${passed} end-to-end tests passed for these inputs`);
}

function check() {
  const record = JSON.parse(readFileSync(RECORD, 'utf8'));
  const isCurrent = record.inputs === hashOfInputs();
  console.log(
    isCurrent
      ? `not run again: ${record.passed} end-to-end tests passed for exactly these inputs (${record.date})`
      : `the inputs changed since the record of ${record.date}: the end-to-end tests are run`,
  );
  process.exitCode = isCurrent ? 0 : 1;
}

/** A hash over the names and contents of all files that are or could be committed. */
function hashOfInputs() {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate', '--', ...INPUTS], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const hash = createHash('sha256');
  for (const name of listed.split('\0').filter(Boolean).toSorted()) {
    hash.update(`${name}\0`);
    hash.update(createHash('sha256').update(contentOf(name)).digest());
  }
  return hash.digest('hex');
}

/** A file that was deleted and not yet committed is listed too. */
function contentOf(name) {
  try {
    return readFileSync(`${ROOT}${name}`);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return 'deleted';
  }
}

function countsOf(junit) {
  const [, tests = '0', failures = '0', errors = '0'] = /<testsuites [^>]*tests="(\d+)" failures="(\d+)" errors="(\d+)"/u.exec(junit) ?? [];
  const failed = Number(failures) + Number(errors);
  return { passed: Number(tests) - failed, failed };
}
