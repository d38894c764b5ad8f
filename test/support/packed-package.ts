import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { builtCli } from './built-package.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Packs this package into a folder as npm would publish it, and gives the path of the tarball. Throws when the build is stale. */
export async function packPackage(folder: string): Promise<string> {
  builtCli();
  // without its prepare step: it would remove the build that other tests use
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 });
  const [packed] = JSON.parse(stdout) as readonly { readonly filename: string }[];
  if (!packed) throw new Error(`npm packed nothing: ${stdout}`);
  return join(folder, packed.filename);
}
