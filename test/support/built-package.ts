import { execFile } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BUILD_STAMP = join(ROOT, 'dist', 'workflow-bundle.json');

let checked = false;

/** The command line of this checkout, built. Throws when the build is missing or older than a source: a test of old code proves nothing. */
export function builtCli(): string {
  checked ||= requireFreshBuild();
  return join(ROOT, 'bin', 'perdure');
}

/** The folder of the build. Throws as `builtCli`. */
export function builtFolder(): string {
  builtCli();
  return join(ROOT, 'dist');
}

/** The workflow bundle of the build. */
export function builtWorkflowBundle(): string {
  return join(ROOT, 'dist', 'workflow-bundle.js');
}

/** Builds the package when its build is missing or older than a source. */
export async function buildWhenStale(): Promise<void> {
  const reason = staleness();
  if (reason === undefined) return;
  console.log(`${reason}: building`);
  await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: ROOT });
}

function requireFreshBuild(): true {
  const reason = staleness();
  if (reason === undefined) return true;
  throw new Error(`${reason}: run 'npm run build' first`);
}

/** Why the build cannot be used. The build writes its stamp last. */
function staleness(): string | undefined {
  if (!existsSync(BUILD_STAMP)) return 'dist is missing';
  const builtAt = statSync(BUILD_STAMP).mtimeMs;
  const newer = sources(join(ROOT, 'src')).find((file) => statSync(file).mtimeMs > builtAt);
  return newer === undefined ? undefined : `dist is older than ${newer.slice(ROOT.length)}`;
}

/** The source files, and their folders, whose time tells of a file that is gone. */
function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory() || /\.(?:ts|css)$/u.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}
