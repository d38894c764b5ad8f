import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { builtCli } from '../support/built-package.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const Manifest = z.object({
  dependencies: z.record(z.string(), z.string()),
  peerDependenciesMeta: z.record(z.string(), z.object({ optional: z.boolean() })),
});

/** The limit of DESIGN: each direct dependency is one more to trust. */
const DEPENDENCIES_MAX = 12;

describe('an installation without optional packages', () => {
  let folder: string;
  beforeAll(async () => {
    builtCli();
    folder = await mkdtemp(join(tmpdir(), 'perdure-optional-'));
    const { peerDependenciesMeta } = await manifest();
    for (const name of ['bin', 'dist', 'package.json']) await cp(join(ROOT, name), join(folder, name), { recursive: true });
    for (const name of await packageNames()) {
      if (name in peerDependenciesMeta) continue;
      await mkdir(dirname(join(folder, 'node_modules', name)), { recursive: true });
      await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
    }
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('has at most a dozen direct dependencies', async () => {
    expect(Object.keys((await manifest()).dependencies).length).toBeLessThanOrEqual(DEPENDENCIES_MAX);
  });

  it.each(['client', 'contracts', 'define', 'streams', 'testing', 'worker', 'workflows'])('loads the door %s', async (door) => {
    expect(await node(`await import('./dist/${door}/index.js'); console.log('loaded')`)).toMatchObject({ stdout: 'loaded\n' });
  });

  it.each([
    ['serve', "FASTIFY_PACKAGE: perdure serve needs the package 'fastify'; install it with: npm install fastify"],
    ['mcp', "MCP_SDK: perdure mcp needs the package '@modelcontextprotocol/sdk'; install it with: npm install @modelcontextprotocol/sdk"],
    ['acp', "ACP_SDK: perdure acp needs the package '@agentclientprotocol/sdk'; install it with: npm install @agentclientprotocol/sdk"],
  ])('ends perdure %s with one line that names the package', async (verb, line) => {
    expect(await run([join(folder, 'bin/perdure'), verb])).toEqual({ code: 2, stdout: '', stderr: `${line}\n` });
  });

  it('reads other answers of the network, and names the package for a web page', async () => {
    const convert = `import { htmlText } from './dist/tools/fetch/html-text.js';
      await htmlText('<p>text', { url: new URL('http://a.example'), signal: AbortSignal.timeout(60_000) }).catch(({ message }) => console.log(message));`;
    const line = "HTML_PACKAGE: this worker needs the package 'html-to-text' to read web pages; install it with: npm install html-to-text";
    expect(await node(convert)).toMatchObject({ stdout: `${line}\n` });
    expect(await node(`await import('./dist/tools/registry.js'); console.log('loaded')`)).toMatchObject({ stdout: 'loaded\n' });
  });

  it('shows Markdown on a terminal as it was written', async () => {
    const show = `import { markdownLines } from './dist/cli/terminal/markdown-lines.js';
      console.log(markdownLines('**One**\\ntwo\\n\\n- &lt;b', 40).map((line) => line.map(({ text }) => text).join('')).join('|'));`;
    expect(await node(show)).toMatchObject({ stdout: '**One**|two||- &lt;b\n' });
  });

  async function node(script: string): Promise<Ended> {
    return await run(['--input-type=module', '-e', script]);
  }

  async function run(args: readonly string[]): Promise<Ended> {
    const options = { cwd: folder, env: { PATH: process.env['PATH'], HOME: folder, PERDURE_DIR: join(folder, 'state') } };
    try {
      return { code: 0, ...(await promisify(execFile)(process.execPath, args, options)) };
    } catch (error) {
      // what execFile rejects with
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { code, stdout, stderr };
    }
  }
});

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function manifest(): Promise<z.infer<typeof Manifest>> {
  return Manifest.parse(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')));
}

async function packageNames(): Promise<string[]> {
  const names = (await readdir(join(ROOT, 'node_modules'))).filter((name) => !name.startsWith('.'));
  const scoped = names.filter((name) => name.startsWith('@'));
  const inScopes = await Promise.all(
    scoped.map(async (scope) => (await readdir(join(ROOT, 'node_modules', scope))).map((name) => `${scope}/${name}`)),
  );
  return [...names.filter((name) => !name.startsWith('@')), ...inScopes.flat()];
}
