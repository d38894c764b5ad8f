import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { renameDurably } from '../../artifacts/durable-file.js';
import type { InstallOptions } from './binary-download.js';
import { runCommand } from './run-command.js';

const COMMAND = 'github.com/temporalio/cli/cmd/temporal';
const REPORT_EVERY_MS = 15_000;
/**
 * What a development server does without, which takes a quarter of the compiler's time: gRPC in the storage of Google's cloud (Temporal's
 * own builds leave it out too), and what only a debugger reads.
 */
const BUILD_FLAGS = ['-trimpath', '-tags', 'disable_grpc_modules', '-gcflags=all=-dwarf=false', '-ldflags', '-s -w'];

/**
 * Builds the Temporal CLI from the Go module proxy and moves it to `target` in one step. Takes 2-4 minutes and 3 GB of temporary
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
    GOBIN: work,
    // collecting the compiler's garbage takes a fifth of the time at Go's defaults; the limit is for one process, and Go starts one for each processor
    GOGC: env.GOGC ?? 'off',
    GOMEMLIMIT: env.GOMEMLIMIT ?? '1GiB',
  };
  const go = (...args: string[]): Promise<void> => runCommand('go', args, { env: goEnv, cwd: work });
  const since = Date.now();
  let step = 'checking Go';
  const report = (): void =>
    say(`building the Temporal server ${version} with Go (once, 2-4 minutes): ${step}, ${Math.round((Date.now() - since) / 1000)} s`);
  const reporting = setInterval(report, REPORT_EVERY_MS);
  try {
    await mkdir(goEnv.GOTMPDIR);
    await go('version');
    step = 'downloading modules and compiling';
    report();
    await go('install', ...BUILD_FLAGS, `${COMMAND}@v${version}`);
    await renameDurably(join(work, 'temporal'), target);
  } finally {
    clearInterval(reporting);
    await rm(work, { recursive: true, force: true });
  }
}
