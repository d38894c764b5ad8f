// The record of the long tests: for which inputs they passed. They start some hundred processes and programs of others, and take longer
// than all other tests together, so `.ci/run` runs a group of them only for inputs that it has not passed for yet.
//   node .ci/record.mjs check GROUP   exit 0 and one line if the record is of the present inputs; else exit 1 and why
//   node .ci/record.mjs write GROUP   after the group passed: the record of the present inputs
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RECORD = `${ROOT}.ci/record.json`;
const OF_ALL = [
  'bin',
  'examples',
  'package.json',
  'package-lock.json',
  'src',
  'templates',
  'test/support',
  'tsconfig.build.json',
  'vitest.config.ts',
];
/** The groups, with all that can change what their tests show, and their reports. */
const GROUPS = {
  e2e: { inputs: [...OF_ALL, 'test/architecture', 'test/e2e', 'test/cli', 'test/testing', 'test/worker'], reports: ['e2e'] },
  integrations: {
    inputs: [...OF_ALL, '.ci/integrations', 'test/cli/support', 'test/integrations', 'test/providers', 'test/streams'],
    reports: ['python', 'openapi', 's3', 'redis', 'chromium', 'terminal', 'gateways', 'small-model', 'executors', 'starter'],
  },
};

const [verb, name] = process.argv.slice(2);
const group = GROUPS[name];
if (group === undefined || !['check', 'write'].includes(verb))
  throw new Error(`use check or write, with ${Object.keys(GROUPS).join(' or ')}`);
if (verb === 'write') write();
else check();

function write() {
  const counts = group.reports.map((report) => countsOf(readFileSync(`${ROOT}coverage/junit-${report}.xml`, 'utf8')));
  const passed = counts.reduce((sum, count) => sum + count.passed, 0);
  const failed = counts.reduce((sum, count) => sum + count.failed, 0);
  if (failed > 0 || counts.some((count) => count.passed === 0)) throw new Error(`${passed} passed, ${failed} failed: nothing to record`);
  const record = { inputs: hashOfInputs(), passed, date: new Date().toISOString().slice(0, 10) };
  writeFileSync(RECORD, `${JSON.stringify({ ...recorded(), [name]: record }, undefined, 2)}\n`);
  console.log(`recorded in .ci/record.json: ${passed} tests of ${name} passed for these inputs`);
}

function check() {
  const record = recorded()[name];
  const isCurrent = record?.inputs === hashOfInputs();
  console.log(
    isCurrent
      ? `not run again: ${record.passed} tests of ${name} passed for exactly these inputs (${record.date})`
      : `the inputs changed since the record of ${record?.date ?? 'no day'}: the tests of ${name} are run`,
  );
  process.exitCode = isCurrent ? 0 : 1;
}

function recorded() {
  return JSON.parse(readFileSync(RECORD, 'utf8'));
}

/** A hash over the names and contents of all files that are or could be committed. */
function hashOfInputs() {
  const listed = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate', '--', ...group.inputs],
    {
      cwd: ROOT,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  const hash = createHash('sha256');
  for (const file of listed.split('\0').filter(Boolean).toSorted()) {
    hash.update(`${file}\0`);
    hash.update(createHash('sha256').update(contentOf(file)).digest());
  }
  return hash.digest('hex');
}

/** A file that was deleted and not yet committed is listed too. */
function contentOf(file) {
  try {
    return readFileSync(`${ROOT}${file}`);
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
