import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { renameDurably } from '../../artifacts/durable-file.js';
import type { InstallOptions } from './binary-download.js';
import { runCommand } from './run-command.js';

const MODULE = 'github.com/temporalio/cli';
const COMMAND = `${MODULE}/cmd/temporal`;
const REPORT_EVERY_MS = 15_000;
const TOOLS_FILE = `//go:build tools\n\npackage build\n\nimport _ "${COMMAND}"\n`;

/**
 * Builds the Temporal CLI from the Go module proxy and moves it to `target` in one step. Takes 2-4 minutes and 3.5 GB of temporary
 * space beside the target. Does not touch Go's own caches. Rejects with the last output line of the failing step.
 */
export async function buildTemporal(target: string, { version, say, env }: InstallOptions): Promise<void> {
  const work = await mkdtemp(join(dirname(target), '.build-'));
  const goEnv = {
    ...env,
    GOMODCACHE: join(work, 'modules'),
    GOCACHE: join(work, 'objects'),
    GOTMPDIR: join(work, 'temporary'),
    // without it, the module cache is read-only and cannot be removed
    GOFLAGS: `${env.GOFLAGS ?? ''} -modcacherw`.trim(),
    GOWORK: 'off',
    // the compiler's garbage collection takes a fifth of the time at Go's default of 100
    GOGC: env.GOGC ?? '400',
  };
  const source = join(work, 'source');
  const go = (...args: string[]): Promise<void> => runCommand('go', args, { env: goEnv, cwd: source });
  const since = Date.now();
  let step = 'checking Go';
  const report = (): void =>
    say(`building the Temporal server ${version} with Go (once, 2-4 minutes): ${step}, ${Math.round((Date.now() - since) / 1000)} s`);
  const reporting = setInterval(report, REPORT_EVERY_MS);
  try {
    await mkdir(source);
    await mkdir(goEnv.GOTMPDIR);
    await writeFile(join(source, 'tools.go'), TOOLS_FILE);
    await go('version');
    step = 'downloading modules';
    report();
    await go('mod', 'init', 'build');
    await go('get', `${COMMAND}@v${version}`);
    step = 'compiling';
    report();
    await go('build', '-trimpath', '-ldflags', '-s -w', '-o', join(work, 'temporal'), COMMAND);
    await renameDurably(join(work, 'temporal'), target);
  } finally {
    clearInterval(reporting);
    await rm(work, { recursive: true, force: true });
  }
}
