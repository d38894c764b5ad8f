import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const FORBIDDEN: readonly (readonly [folder: string, imported: string])[] = [
  ['src/contracts', '@temporalio/common'],
  ['src/contracts', '@temporalio/workflow'],
  ['src/contracts', 'node:fs'],
  ['src/contracts', '../define/define-tool.js'],
  ['src/define', '../worker/config.js'],
  ['src/define', '@temporalio/common'],
  ['src/define', 'node:fs'],
  ['src/workflows', 'node:fs'],
  ['src/workflows', 'zod'],
  ['src/workflows', '@temporalio/client'],
  ['src/workflows', '../activities/call-model.js'],
  ['src/workflows', '../define/define-tool.js'],
  ['src/workflows/policies', '../../client/index.js'],
  ['src/activities', '@temporalio/client'],
  ['src/activities', '@temporalio/worker'],
  ['src/activities', '@temporalio/workflow'],
  ['src/activities', '../workflows/agent-run.js'],
  ['src/activities', '../worker/config.js'],
  ['src/activities', '../streams/file-stream-sink.js'],
  ['src/activities/context', '../../client/index.js'],
  ['src/activities/providers', '@temporalio/common'],
  ['src/activities/providers', '@temporalio/activity'],
  ['src/activities/providers', '../failures.js'],
  ['src/activities/tools', '@temporalio/activity'],
  ['src/activities/tools', '@temporalio/common/lib/errors.js'],
  ['src/streams', '../client/index.js'],
  ['src/streams', '../define/define-tool.js'],
  ['src/streams', '@temporalio/common'],
  ['src/client', '../worker/config.js'],
  ['src/client', '../activities/call-model.js'],
  ['src/client', '../define/define-tool.js'],
  ['src/client', '@temporalio/worker'],
  ['src/worker', '../workflows/index.js'],
  ['src/worker', '../client/index.js'],
  ['src/worker', '../cli/main.js'],
  ['src/worker', '../testing/index.js'],
  ['src/cli', '../activities/call-tool.js'],
  ['src/cli', '../testing/index.js'],
  ['src/cli', '@temporalio/client'],
  ['src/cli/commands', '../../workflows/index.js'],
  ['src/gateway', '../activities/call-tool.js'],
  ['src/gateway', '../cli/main.js'],
  ['src/gateway', '@temporalio/worker'],
];

const ALLOWED: readonly (readonly [folder: string, imported: string])[] = [
  ['src/contracts', 'zod'],
  ['src/contracts', '@noble/hashes/sha2.js'],
  ['src/contracts', './limits.js'],
  ['src/define', '../contracts/limits.js'],
  ['src/workflows', '@temporalio/workflow'],
  ['src/workflows', '@temporalio/common'],
  ['src/workflows/policies', '../../contracts/limits.js'],
  ['src/activities', '@temporalio/activity'],
  ['src/activities', '../define/define-tool.js'],
  ['src/activities/providers', 'openai'],
  ['src/activities/tools', 'node:fs/promises'],
  ['src/streams', 'node:fs/promises'],
  ['src/streams', '../contracts/limits.js'],
  ['src/client', '@temporalio/client'],
  ['src/client', '../streams/stream-sink.js'],
  ['src/worker', '@temporalio/client'],
  ['src/worker', '../activities/create-activities.js'],
  ['src/cli', '../client/index.js'],
  ['src/cli', '../worker/index.js'],
  ['src/gateway', '../client/index.js'],
  ['src/testing', '../client/index.js'],
  ['src/testing', '../activities/providers/provider.js'],
];

describe('the import table', () => {
  let folder: string;
  let findings: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'perdure-lint-'));
    await copyFile(join(ROOT, '.oxlintrc.json'), join(folder, '.oxlintrc.json'));
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const planted = [...FORBIDDEN, ...ALLOWED].map(([where, imported]) => plant(where, imported, `import { x } from '${imported}';`));
    await Promise.all([
      ...planted,
      plant('src/activities', 'types', `import type { x } from '../streams/stream-sink.js';`),
      plant('src/workflows', 'types', `import type { x } from '../activities/call-model.js';`),
    ]);
    await writeFile(join(folder, 'src', 'contracts', 'handlers.ts'), `import { x } from '@temporalio/workflow';\nexport const y = x;\n`);
    findings = await lint();
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(FORBIDDEN)('%s may not import %s', (where, imported) => {
    expect(refused()).toContain(fileFor(where, imported));
  });

  it.each(ALLOWED)('%s may import %s', (where, imported) => {
    expect(refused()).not.toContain(fileFor(where, imported));
  });

  it('only the handlers of the contracts may import @temporalio/workflow', () => {
    expect(refused()).not.toContain('src/contracts/handlers.ts');
  });

  it('activities may know the type of a stream, workflows no type of an activity', () => {
    expect(refused()).not.toContain(fileFor('src/activities', 'types'));
    expect(refused()).toContain(fileFor('src/workflows', 'types'));
  });

  async function plant(where: string, name: string, line: string): Promise<void> {
    const path = join(folder, fileFor(where, name));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `${line}\nexport ${line.startsWith('import type') ? 'type Y = x' : 'const y = x'};\n`);
  }

  async function lint(): Promise<string> {
    const oxlint = join(ROOT, 'node_modules', '.bin', 'oxlint');
    return promisify(execFile)(oxlint, ['--format', 'unix', 'src'], { cwd: folder, maxBuffer: 2 ** 24 }).then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    );
  }

  /** The files in which the rule found something. */
  function refused(): string[] {
    const lines = findings.split('\n').filter((line) => line.includes('no-restricted-imports'));
    return lines.map((line) => line.split(':')[0] ?? '');
  }
});

function fileFor(where: string, imported: string): string {
  return `${where}/planted-${imported.replaceAll(/[^a-z]+/giu, '-')}.ts`;
}
