import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

let checked: string | undefined;

/** The command line of this checkout. Throws when its build is missing, or older than a source file: a test of old code proves nothing. */
export function builtCli(): string {
  checked ??= checkBuild();
  return checked;
}

function checkBuild(): string {
  const built = join(ROOT, 'dist', 'cli', 'main.js');
  if (!existsSync(built)) throw new Error("dist is missing: run 'npm run build' first");
  const builtAt = statSync(built).mtimeMs;
  const newer = sources(join(ROOT, 'src')).find((file) => statSync(file).mtimeMs > builtAt);
  if (newer !== undefined) throw new Error(`dist is older than ${newer.slice(ROOT.length)}: run 'npm run build' first`);
  return join(ROOT, 'bin', 'perdure');
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));
}
