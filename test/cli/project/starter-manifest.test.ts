import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { starterManifest } from '../../../src/cli/project/starter-manifest.js';

const OWN_MANIFEST = fileURLToPath(new URL('../../../package.json', import.meta.url));

it.each([
  [
    'from a registry: its version',
    'tool/node_modules/perdure',
    'https://registry.npmjs.org/perdure/-/perdure-0.1.0.tgz',
    /^\^\d+\.\d+\.\d+$/u,
  ],
  ['from a tarball: the tarball', 'tool/node_modules/perdure', 'file:../packed/perdure.tgz', /^file:\.\.\/packed\/perdure\.tgz$/u],
  ['by a program that keeps no record: its version', 'tool/node_modules/perdure', undefined, /^\^\d+\.\d+\.\d+$/u],
  ['as a checkout: the checkout', 'checkout', undefined, /^file:\.\.\/checkout$/u],
])('D4: installed %s is what a new project depends on', async (_, path, resolved, expected) => {
  const root = await mkdtemp(join(tmpdir(), 'perdure-manifest-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const ownFolder = join(root, path);
  await mkdir(ownFolder, { recursive: true });
  await cp(OWN_MANIFEST, join(ownFolder, 'package.json'));
  const lock = { packages: { 'node_modules/perdure': { resolved } } };
  if (resolved !== undefined) await writeFile(join(dirname(ownFolder), '.package-lock.json'), JSON.stringify(lock));
  const { dependencies } = JSON.parse(await starterManifest(join(root, 'shop'), ownFolder)) as { dependencies: Record<string, string> };
  expect(dependencies['perdure']).toMatch(expected);
});
