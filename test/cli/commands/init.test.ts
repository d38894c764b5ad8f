import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { useCurrentFolder } from '../../support/temp-folder.js';
import { CliFolder } from '../support/cli.js';
import { commandHere } from '../support/command-here.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const FILES = [
  '.gitignore',
  'README.md',
  'agents/support.md',
  'answers.yaml',
  'package.json',
  'perdure.config.ts',
  'test/find-order.test.ts',
  'test/support.test.ts',
  'tools/find-order.ts',
  'tsconfig.json',
];
const NEXT = ['npm install', 'npm test', "npx perdure run 'Where is order 7?' --agent support"];

describe('D4: perdure init', () => {
  const folder = useCurrentFolder('perdure-init-');

  it('writes a project into a new folder, lists its files, and prints what to type next', async () => {
    const { code, stdout, stderr } = await commandHere('init', 'shop');
    expect([code, stderr]).toEqual([0, '']);
    const created = FILES.map((path) => `created shop/${path}`);
    expect(stdout).toBe(`${[...created, '', 'Next:', '  cd shop', ...NEXT.map((line) => `  ${line}`)].join('\n')}\n`);
    expect(await filesIn('shop')).toEqual(FILES);
    expect(await manifest('shop')).toMatchObject({
      name: 'shop',
      private: true,
      type: 'module',
      scripts: { dev: 'perdure dev', start: 'perdure worker', test: 'vitest run' },
      dependencies: { perdure: expect.stringMatching(/^file:\.\.\//u) },
    });
  });

  it('writes into the current folder without a name, beside other files', async () => {
    await writeFile('LICENSE', 'mine');
    const { code, stdout } = await commandHere('init');
    expect(code).toBe(0);
    expect(stdout).toContain(`Next:\n  ${NEXT[0]}\n`);
    expect(await filesIn('.')).toEqual([...FILES, 'LICENSE'].toSorted());
  });

  it('--json prints one document', async () => {
    const { stdout } = await commandHere('init', 'a shop', '--json');
    expect(JSON.parse(stdout)).toEqual({
      folder: join(folder.path, 'a shop'),
      files: FILES.map((path) => `a shop/${path}`),
      next: ["cd 'a shop'", ...NEXT],
    });
  });

  it.each([
    ['a file', 'README.md', 'README.md'],
    ['a link that leads nowhere', 'tsconfig.json', 'tsconfig.json'],
    ['two files', 'answers.yaml README.md', 'README.md and 1 more'],
  ])('refuses to overwrite %s: one line with its code, and nothing is written', async (what, names, named) => {
    for (const name of names.split(' ')) await (what.startsWith('a link') ? symlink('nowhere', name) : writeFile(name, 'mine'));
    const { code, stdout, stderr } = await commandHere('init');
    expect([code, stdout]).toEqual([4, '']);
    expect(stderr).toBe(
      `FILE_EXISTS: ${JSON.stringify(folder.path)} already has ${named}; nothing was written. Use another folder: perdure init FOLDER\n`,
    );
    expect((await readdir('.')).toSorted()).toEqual(names.split(' ').toSorted());
  });

  it('a folder that cannot be written is one line with its code', async () => {
    await writeFile('shop', 'a file');
    const { code, stderr } = await commandHere('init', 'shop');
    expect(code).toBe(2);
    expect(stderr).toMatch(/^INIT_FOLDER: cannot write ".*shop\/\.gitignore" \(ENOTDIR\); use another folder: perdure init FOLDER\n$/u);
  });

  it.each([
    ['My Shop!', 'my-shop'],
    ['_.x', 'x'],
    ['ü', 'agents'],
    ['perdure', 'perdure-agents'],
    ['vitest', 'vitest-agents'],
  ])('the name of folder %j as the name of a package is %s', async (name, expected) => {
    await commandHere('init', name);
    expect(await manifest(name)).toMatchObject({ name: expected });
  });

  it('has the versions that this package is tested with', async () => {
    await commandHere('init');
    const own = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    const { dependencies, devDependencies, engines } = await manifest('.');
    expect(dependencies['zod']).toBe(own.dependencies.zod);
    expect(own.devDependencies).toMatchObject(devDependencies);
    expect(engines).toEqual(own.engines);
  });

  it('its agent runs without a key: the tool really runs', async () => {
    const project = await CliFolder.make();
    try {
      expect((await project.run(['init'])).code).toBe(0);
      const { code, stdout, stderr } = await project.run(['run', 'Where is order 7?', '--agent', 'support', '--json']);
      expect([code, stderr.includes('completed')]).toEqual([0, true]);
      expect(JSON.parse(stdout)).toMatchObject({
        reason: 'completed',
        output: 'Order 7 is a desk lamp, shipped on 3 May.',
        toolCalls: 1,
        models: ['scripted/answers.yaml'],
      });
    } finally {
      await project.remove();
    }
  });
});

async function filesIn(name: string): Promise<string[]> {
  const entries = await readdir(name, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return files.map((path) => (name === '.' ? path : path.slice(name.length + 1))).toSorted();
}

async function manifest(name: string): Promise<{
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: object;
  readonly engines: object;
}> {
  return JSON.parse(await readFile(join(name, 'package.json'), 'utf8'));
}
