import { readFile } from 'node:fs/promises';
import { basename, dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this package. */
const OWN_FOLDER = resolve(fileURLToPath(new URL('../../../', import.meta.url)));

/** What this package's own manifest has. */
interface OwnManifest {
  readonly name: string;
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly dependencies: { readonly zod: string };
  readonly devDependencies: Readonly<Record<'@types/node' | 'typescript' | 'vitest', string>>;
}

/** What npm records of the packages that it installed into a `node_modules`. */
interface Installed {
  readonly packages?: Readonly<Record<string, { readonly resolved?: string }>>;
}

/**
 * The `package.json` of a new project in `folder`, with the versions that this package is tested with. `ownFolder`: where this package is
 * installed, which decides where the project gets it from.
 */
export async function starterManifest(folder: string, ownFolder: string = OWN_FOLDER): Promise<string> {
  const own: OwnManifest = JSON.parse(await readFile(resolve(ownFolder, 'package.json'), 'utf8'));
  const { '@types/node': nodeTypes, typescript, vitest } = own.devDependencies;
  const dependencies = { [own.name]: await specifier(own, { folder, ownFolder }), zod: own.dependencies.zod };
  const devDependencies = { '@types/node': nodeTypes, typescript, vitest };
  const manifest = {
    name: projectName(folder, Object.keys({ ...dependencies, ...devDependencies })),
    private: true,
    type: 'module',
    engines: own.engines,
    scripts: { dev: 'perdure dev', start: 'perdure worker', test: 'vitest run', check: 'tsc' },
    dependencies,
    devDependencies,
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** The folder's name as the name of a package. npm refuses to install a package into one of the same name. */
function projectName(folder: string, taken: readonly string[]): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/gu, '-')
    .replaceAll(/^[._-]+|-+$/gu, '')
    .slice(0, NAME_CHARS_MAX);
  if (name === '') return 'agents';
  return taken.includes(name) ? `${name}-agents` : name;
}

/** Shorter than the 214 characters that npm allows. */
const NAME_CHARS_MAX = 100;

/** Where a project gets this package from: the same checkout or tarball, else the registry. */
async function specifier(
  { name, version }: OwnManifest,
  { folder, ownFolder }: { readonly folder: string; readonly ownFolder: string },
): Promise<string> {
  const modules = dirname(ownFolder);
  if (basename(modules) !== 'node_modules') return fileSpecifier(ownFolder, folder);
  const { packages } = await installedIn(modules);
  const resolved = packages?.[`node_modules/${name}`]?.resolved;
  return resolved?.startsWith('file:') ? fileSpecifier(resolve(dirname(modules), resolved.slice('file:'.length)), folder) : `^${version}`;
}

function fileSpecifier(path: string, folder: string): string {
  return `file:${relative(folder, path).replaceAll('\\', '/')}`;
}

/** Only npm writes the file; without it, the package came from a registry. */
async function installedIn(modules: string): Promise<Installed> {
  const text = await readFile(resolve(modules, '.package-lock.json'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return '{}';
  });
  return JSON.parse(text);
}
