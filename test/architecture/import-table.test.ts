import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IMPORT_TABLE, type Room } from '../../lint/import-table.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ROOMS = Object.keys(IMPORT_TABLE);

/** One statement in a file of a room. `depth`: how many folders the file stands below its room. */
interface Planted {
  readonly room: string;
  readonly statement: string;
  readonly depth: number;
}

const importOf = (name: string, depth: number): string =>
  `import { x } from '${'../'.repeat(depth + 1)}${name}/index.js';\nexport const y = x;\n`;
const typeOf = (name: string): string => `import type { x } from '../${name}/index.js';\nexport type Y = x;\n`;
const packageOf = (name: string): string => `import { x } from '${name}';\nexport const y = x;\n`;

const FORBIDDEN: readonly Planted[] = Object.entries(IMPORT_TABLE).flatMap(([room, row]) => [
  ...strangers(room, row).flatMap((other) => [0, 2].map((depth) => ({ room, statement: importOf(other, depth), depth }))),
  ...(row.types ?? []).map((other) => ({ room, statement: importOf(other, 0), depth: 0 })),
  ...foreignPackages(row).map((name) => ({ room, statement: packageOf(name), depth: 1 })),
]);

const ALLOWED: readonly Planted[] = Object.entries(IMPORT_TABLE).flatMap(([room, { rooms, types = [], packages }]) => [
  ...rooms.map((other) => ({ room, statement: importOf(other, 1), depth: 1 })),
  ...types.map((other) => ({ room, statement: typeOf(other), depth: 0 })),
  ...packages.map((name) => ({ room, statement: packageOf(name.replace('node:*', 'node:fs').replace('*', 'x')), depth: 0 })),
]);

/** Neither the room itself nor one of its row. */
function strangers(room: string, row: Room): string[] {
  return ROOMS.filter((other) => other !== room && !row.rooms.includes(other) && !row.types?.includes(other));
}

function foreignPackages({ packages }: Room): string[] {
  const isListed = (name: string): boolean => packages.some((listed) => name.startsWith(listed.replace('*', '')));
  return ['node:fs', '@temporalio/worker', '@temporalio/workflow', 'zod', 'left-pad'].filter((name) => !isListed(name));
}

describe('the import table', () => {
  let folder: string;
  let refused: ReadonlySet<string>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'perdure-lint-'));
    await Promise.all([
      cp(join(ROOT, '.oxlintrc.json'), join(folder, '.oxlintrc.json')),
      cp(join(ROOT, 'lint'), join(folder, 'lint'), { recursive: true }),
    ]);
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    await Promise.all([...FORBIDDEN, ...ALLOWED].map((planted) => plant(pathFor(planted), planted.statement)));
    await plant('src/workflows/turn/schema.ts', `import { x } from '../../contracts/schemas/run.js';\nexport const y = x;\n`);
    await plant('src/workflows/turn/schema-type.ts', `import type { x } from '../../contracts/schemas/run.js';\nexport type Y = x;\n`);
    await plant('src/workflows/turn/lazy.ts', `export const y = (): unknown => import('../../activities/index.js');\n`);
    await plant('src/contracts/handlers.ts', packageOf('@temporalio/workflow'));
    await plant('src/attic/x.ts', packageOf('zod'));
    refused = new Set(await lint());
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('has a row for every folder of src', async () => {
    const folders = await readdir(join(ROOT, 'src'), { withFileTypes: true });
    expect(folders.filter((entry) => entry.isDirectory() && !ROOMS.includes(entry.name)).map(({ name }) => name)).toEqual([]);
    expect(refused).toContain('src/attic/x.ts');
  });

  it('runs down: a room imports only rooms of rows below its own', () => {
    const up = Object.entries(IMPORT_TABLE).flatMap(([room, { rooms, types = [] }]) =>
      [...rooms, ...types].filter((other) => ROOMS.indexOf(other) <= ROOMS.indexOf(room)).map((other) => `${room} -> ${other}`),
    );
    expect(up).toEqual([]);
  });

  it.each(ROOMS)('%s: the lint refuses each room, type and package that its row does not have', (room) => {
    const planted = FORBIDDEN.filter((one) => one.room === room);
    expect(planted.length).toBeGreaterThan(2);
    expect(planted.filter((one) => !refused.has(pathFor(one))).map(({ statement }) => statement)).toEqual([]);
  });

  it.each(ROOMS)('%s: the lint accepts what its row has', (room) => {
    expect(ALLOWED.filter((one) => one.room === room && refused.has(pathFor(one))).map(({ statement }) => statement)).toEqual([]);
  });

  it('workflows may import types of the schemas, and never the schemas', () => {
    expect(refused).toContain('src/workflows/turn/schema.ts');
    expect(refused).not.toContain('src/workflows/turn/schema-type.ts');
  });

  it('an import expression is an import', () => {
    expect(refused).toContain('src/workflows/turn/lazy.ts');
  });

  it('only the handlers of the contracts may import @temporalio/workflow', () => {
    expect(refused).not.toContain('src/contracts/handlers.ts');
    expect(FORBIDDEN.some(({ room, statement }) => room === 'contracts' && statement.includes('@temporalio/workflow'))).toBe(true);
  });

  async function plant(file: string, text: string): Promise<void> {
    const path = join(folder, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }

  /** The files in which the rule found something. */
  async function lint(): Promise<string[]> {
    const oxlint = join(ROOT, 'node_modules', '.bin', 'oxlint');
    const found = await promisify(execFile)(oxlint, ['--format', 'unix', 'src'], { cwd: folder, maxBuffer: 2 ** 24 }).then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    );
    return found
      .split('\n')
      .filter((line) => line.includes('house(import-table)'))
      .map((line) => line.split(':')[0] ?? '');
  }
});

function pathFor({ room, statement, depth }: Planted): string {
  const name = statement.split('\n')[0]?.replaceAll(/[^a-z]+/giu, '-') ?? '';
  return `src/${room}/${'deep/'.repeat(depth)}planted-${name}.ts`;
}
