import { chmod, cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type PerdureFolder, usePerdureFolders } from '../../e2e/support/perdure-folder.js';
import { namedProgram } from '../../support/local-process.js';
import { useSmallModel } from './support/small-model.js';

const CONFIG = fileURLToPath(new URL('fixtures/repository/perdure.config.mjs', import.meta.url));

/** The tests of the repository, in a sandbox: nothing but the workspace and `/tmp` can be written. */
const TEST = 'GOCACHE=/tmp/go-build GOTOOLCHAIN=local go test ./...';

/** A change with a test of its own, as a maintainer would make it. */
const SCRIPT = {
  steps: [
    { text: 'I read the source first.', toolCalls: [call('search_files', { pattern: 'func Split', glob: '*.go' })] },
    {
      toolCalls: [
        call('edit_file', {
          path: 'shlex.go',
          oldText: '// Split partitions a string into a slice of strings.\n',
          newText:
            '// Count returns the number of words of a string.\nfunc Count(s string) (int, error) {\n\twords, err := Split(s)\n\treturn len(words), err\n}\n\n// Split partitions a string into a slice of strings.\n',
        }),
        call('write_file', {
          path: 'count_test.go',
          content:
            'package shlex\n\nimport "testing"\n\nfunc TestCount(t *testing.T) {\n\tif got, err := Count(`one "two three"`); got != 2 || err != nil {\n\t\tt.Errorf("Count: %d, %v", got, err)\n\t}\n}\n',
        }),
      ],
    },
    { text: 'Now the tests.', toolCalls: [call('run_command', { command: `${TEST} -run 'Count|Split' -v`, timeoutMs: 240_000 })] },
    { text: 'Count is added, and all tests pass.', expect: { lastToolResult: '--- PASS: TestCount' } },
  ],
};

const { tools } = useSmallModel();

describe('an agent in a public repository that nobody here wrote', () => {
  const folder = usePerdureFolders();

  it('edits it, runs its tests in the sandbox and reports, with a scripted model', async () => {
    const here = await folder();
    await clone(here);
    await writeFile(join(here.dir, 'perdure.config.mjs'), 'export default {};\n');
    await writeFile(join(here.dir, 'script.json'), JSON.stringify(SCRIPT));
    const args = ['run', 'add Count', '--workspace', here.workspace, '--model', 'scripted/script.json'];
    expect(await here.json(args)).toMatchObject({ reason: 'completed', toolCalls: 4, output: 'Count is added, and all tests pass.' });
    expect(await readFile(join(here.workspace, 'shlex.go'), 'utf8')).toContain('func Count(s string)');
  });

  it('edits it, and then tests it and reports, with a small model that nobody scripted: two runs in one workspace', async () => {
    const here = await folder({ LLAMACPP_BASE_URL: tools().url });
    await clone(here);
    const before = await readFile(join(here.workspace, 'README'), 'utf8');
    await cp(CONFIG, join(here.dir, 'perdure.config.mjs'));
    const ask = async (agent: string, task: string) =>
      await here.json(['run', task, '--agent', agent, '--model', 'llamacpp/smollm2', '--workspace', here.workspace]);
    const done = { reason: 'completed', models: ['llamacpp/smollm2'], toolCalls: 1, output: expect.stringMatching(/\S/u) };
    expect(await ask('editor', 'Add the line "Maintained with care." to README.')).toMatchObject(done);
    const after = await readFile(join(here.workspace, 'README'), 'utf8');
    expect(after.startsWith(before)).toBe(true);
    expect(after.length).toBeGreaterThan(before.length);
    expect(await ask('tester', 'Do the tests of this repository pass?')).toMatchObject(done);
    expect(await readFile(join(here.workspace, 'tests.log'), 'utf8')).toMatch(/^ok\s+github\.com/mu);
  });
});

function call(name: string, args: object): { name: string; args: object } {
  return { name, args };
}

/** A copy of the repository is the workspace. */
async function clone(here: PerdureFolder): Promise<void> {
  const source = namedProgram(
    'PERDURE_TEST_REPOSITORY',
    'a folder with the module github.com/google/shlex',
    'go mod download -json MODULE',
  );
  await cp(source, here.workspace, { recursive: true });
  // the cache of modules is read-only, and so would be the copy
  for (const file of await readdir(here.workspace)) await chmod(join(here.workspace, file), 0o644);
}
