import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

const FORBIDDEN: readonly (readonly [file: string, imported: string])[] = [
  ['src/workflows/planted.ts', 'node:fs'],
  ['src/workflows/planted.ts', '../activities/call-model.js'],
  ['src/workflows/policies/planted.ts', '../../client/index.js'],
  ['src/contracts/planted.ts', '@temporalio/common'],
  ['src/contracts/planted.ts', '../define/define-tool.js'],
  ['src/define/planted.ts', '../worker/config.js'],
  ['src/activities/planted.ts', '@temporalio/client'],
  ['src/activities/planted.ts', '../workflows/agent-run.js'],
  ['src/activities/providers/planted.ts', '@temporalio/common'],
  ['src/activities/tools/planted.ts', '@temporalio/activity'],
  ['src/streams/planted.ts', '../client/index.js'],
  ['src/client/planted.ts', '../worker/config.js'],
  ['src/client/planted.ts', '@temporalio/worker'],
  ['src/worker/planted.ts', '../workflows/index.js'],
  ['src/worker/planted.ts', '../cli/main.js'],
  ['src/cli/planted.ts', '../activities/call-tool.js'],
];

const ALLOWED: readonly (readonly [file: string, imported: string])[] = [
  ['src/workflows/policies/planted.ts', '../../contracts/limits.js'],
  ['src/workflows/planted.ts', '@temporalio/workflow'],
  ['src/contracts/planted.ts', 'zod'],
  ['src/activities/planted.ts', '../define/define-tool.js'],
  ['src/streams/planted.ts', 'node:fs/promises'],
  ['src/worker/planted.ts', '@temporalio/client'],
  ['src/cli/planted.ts', '../client/index.js'],
];

describe('the import table', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'perdure-lint-'));
    await copyFile(join(ROOT, '.oxlintrc.json'), join(folder, '.oxlintrc.json'));
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(FORBIDDEN)('%s may not import %s', async (file, imported) => {
    expect(await lint(file, imported)).toContain('no-restricted-imports');
  });

  it.each(ALLOWED)('%s may import %s', async (file, imported) => {
    expect(await lint(file, imported)).not.toContain('no-restricted-imports');
  });

  async function lint(file: string, imported: string): Promise<string> {
    await rm(join(folder, 'src'), { recursive: true, force: true });
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), `import { x } from '${imported}';\nexport const y = x;\n`);
    const oxlint = join(ROOT, 'node_modules', '.bin', 'oxlint');
    return run(oxlint, ['--format', 'unix', 'src'], { cwd: folder }).then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    );
  }
});

describe('the source tree', () => {
  it('no file is longer than 300 lines', async () => {
    const files = (await readdir(join(ROOT, 'src'), { recursive: true })).filter((file) => file.endsWith('.ts'));
    const lengths = await Promise.all(
      files.map(async (file) => [file, (await readFile(join(ROOT, 'src', file), 'utf8')).split('\n').length] as const),
    );
    expect(lengths.length).toBeGreaterThan(50);
    expect(lengths.filter(([, lines]) => lines > 301)).toEqual([]);
  });
});
