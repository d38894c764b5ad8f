import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * The arguments with which `node` runs another module of this package as a process of its own: built JavaScript as it is,
 * TypeScript sources through jiti. `base` is the caller's `import.meta.url`, `name` the module's path from there, without extension.
 */
export function nodeScript(base: string, name: string): string[] {
  if (!base.endsWith('.ts')) return [fileURLToPath(new URL(`./${name}.js`, base))];
  const jitiManifest = createRequire(import.meta.url).resolve('jiti/package.json');
  const register = new URL('./lib/jiti-register.mjs', pathToFileURL(jitiManifest));
  return ['--import', register.href, fileURLToPath(new URL(`./${name}.ts`, base))];
}
