import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';

const NODE_MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** All that the sandbox may hold beside our own workflows and contracts: what Temporal itself brings, a hash, durations and 64-bit numbers. */
const PACKAGES = ['@noble/hashes', '@temporalio/common', '@temporalio/workflow', 'long', 'ms', 'nexus-rpc'];
const OWN_FOLDERS = ['contracts', 'workflows'];

describe('the workflow bundle', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'perdure-bundle-'));
    await symlink(NODE_MODULES, join(folder, 'node_modules'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('holds workflows, contracts and six packages: no schema, no activity, no provider SDK', async () => {
    const modules = bundledModules(await readFile(inject('workflowBundlePath'), 'utf8'));
    expect(modules.packages).toEqual(PACKAGES);
    expect(modules.own).toEqual(OWN_FOLDERS);
  });

  it('holds no Node built-in', async () => {
    const code = await readFile(inject('workflowBundlePath'), 'utf8');
    expect(bundledModules(code).external).toEqual([]);
  });

  it.each(['openai', 'zod'])('%s would be found, if a workflow imported it', async (name) => {
    const workflowsPath = await planted(`import * as all from '${name}';\nexport async function planted() { return String(all); }\n`);
    const { code } = await bundleWorkflowCode({ workflowsPath, logger: SILENT });
    expect(bundledModules(code).packages).toContain(name);
  });

  it('a Node built-in that a workflow imported would keep the bundle from being made', async () => {
    const workflowsPath = await planted(
      "import { readFileSync } from 'node:fs';\nexport async function planted() { return readFileSync('x'); }\n",
    );
    const said: string[] = [];
    const logger = { ...SILENT, error: (message: string) => said.push(message) };
    await expect(bundleWorkflowCode({ workflowsPath, logger })).rejects.toThrow('Webpack finished with errors');
    expect(said.join('\n')).toContain('node:fs');
  });

  async function planted(source: string): Promise<string> {
    const path = join(folder, 'workflows.mjs');
    await writeFile(path, source);
    return path;
  }
});

/** Reads the names that the bundler gives its modules: a path each, or `external "NAME"`. */
function bundledModules(code: string): { packages: string[]; own: string[]; external: string[] } {
  const names = [...code.matchAll(/^\/\*\*\*\/ "([^"\n]+)"/gmu)].map((match) => match[1] ?? '');
  if (names.length < 50) throw new Error(`only ${names.length} modules were recognised in the bundle`);
  const parts = (pattern: RegExp): string[] => [...new Set(names.flatMap((name) => pattern.exec(name)?.slice(1) ?? []))].toSorted();
  return {
    packages: parts(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/u),
    own: parts(/^\.\/(?:src|dist)\/([^/]+)\//u),
    external: names.filter((name) => name.startsWith('external ') || name.startsWith('node:')),
  };
}

const ignore = (): void => undefined;
const SILENT = { log: ignore, trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };
