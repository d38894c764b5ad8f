import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The doors of the package, as its `exports` name them. */
const DOORS = ['client', 'contracts', 'streams', 'testing', 'worker', 'workflows'] as const;

/**
 * Type-checks examples as a user of the package would compile them: each is a module in a folder of its own, with the strict options of
 * this project. Returns the compiler's messages, and an empty list when there are none.
 */
export async function typeCheck(examples: Readonly<Record<string, string>>): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'perdure-examples-'));
  try {
    await mkdir(join(folder, 'examples'));
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    await Promise.all(Object.entries(examples).map(([name, code]) => writeFile(join(folder, 'examples', `${name}.ts`), code)));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(configFile()));
    return await compilerMessages(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function configFile(): object {
  const doors = DOORS.map((door) => [`perdure/${door}`, [`${ROOT}src/${door}/index.ts`]] as const);
  return {
    extends: `${ROOT}tsconfig.json`,
    compilerOptions: {
      paths: { perdure: [`${ROOT}src/define/index.ts`], ...Object.fromEntries(doors) },
      typeRoots: [`${ROOT}node_modules/@types`],
      noUnusedLocals: false,
    },
    include: ['examples'],
  };
}

function compilerMessages(folder: string): Promise<string[]> {
  const compiler = join(ROOT, 'node_modules/.bin/tsc');
  return new Promise((resolve) => {
    execFile(compiler, ['--noEmit', '--pretty', 'false', '-p', folder], { cwd: folder }, (error, stdout) => {
      resolve(error ? stdout.trim().split('\n') : []);
    });
  });
}
