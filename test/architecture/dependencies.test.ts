import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const Manifest = z.object({ scripts: z.record(z.string(), z.string()) });
const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({ integrity: z.string().optional(), dev: z.boolean().optional(), optional: z.boolean().optional() }),
  ),
});

const manifest = Manifest.parse(JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')));
const lock = Lock.parse(JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8')));

/** Scripts that npm runs where a package is installed from the registry. */
const INSTALL_SCRIPTS: ReadonlySet<string> = new Set(['preinstall', 'install', 'postinstall']);

describe('the packages that an installation brings', () => {
  it('Perdure has no install script', () => {
    expect(Object.keys(manifest.scripts).filter((name) => INSTALL_SCRIPTS.has(name))).toEqual([]);
  });

  it('are locked by hash', () => {
    const needed = Object.entries(lock.packages).filter(([path, { dev, optional }]) => path !== '' && !dev && !optional);
    expect(needed.length).toBeGreaterThan(30);
    expect(needed.filter(([, { integrity = '' }]) => !integrity.startsWith('sha512-'))).toEqual([]);
  });
});
