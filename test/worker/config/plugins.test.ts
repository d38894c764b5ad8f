import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findSkills } from '../../../src/tools/skills/find-skills.js';
import { listAgents } from '../../../src/worker/config/list-agents.js';
import { type LoadedConfig, loadConfig } from '../../../src/worker/config/load-config.js';
import { useTempFolder } from '../../support/temp-folder.js';

const TOOL = (name: string, more = '') =>
  `defineTool({ name: '${name}', description: '${name}', parameters: z.strictObject({}), execute: () => '${name}'${more} })`;
const START = `import { defineHook, definePlugin, defineTool } from 'perdure';\nimport { z } from 'zod';\n`;

/** A package as an author publishes it: its code is in dist, its skills and agents beside it. */
const PACKAGE: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({
    name: 'acme-tools',
    version: '1.2.3',
    type: 'module',
    exports: './dist/index.js',
    files: ['dist', 'skills', 'agents'],
  }),
  'dist/index.js': `${START}import { add } from './add.js';
    export default definePlugin({
      name: 'acme-tools', from: import.meta.url, tools: [add], skills: '../skills', agents: '../agents',
      hooks: [defineHook({ name: 'acme-audit', on: 'before-tool', run: () => ({ action: 'allow' }) })],
      providers: { acme: { api: 'openai-chat', baseUrl: 'https://acme.example.com/v1' } },
      mcpServers: { acmedocs: { url: 'https://docs.example.com/mcp' } },
    });`,
  'dist/add.js': `${START}export const add = ${TOOL('acme_add')};`,
  'skills/greet/SKILL.md': '---\nname: greet\ndescription: Greets people.\n---\nSay hello.\n',
  'agents/helper.md': '---\ndescription: Helps.\ntools: [acme_add]\nskills: [greet]\n---\nHelp well.\n',
};

let packed: string;
let base: string;
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'perdure-plugin-package-'));
  packed = await packAndInstall(base);
}, 120_000);
afterAll(() => rm(base, { recursive: true, force: true }));

const folder = useTempFolder('perdure-plugins-');

describe('a plugin that is an installed package', () => {
  beforeEach(async () => {
    await cp(packed, join(folder.path, 'node_modules'), { recursive: true });
  });

  it('brings its tools, agents, skills, hooks, providers and MCP servers into the config', async () => {
    const loaded = await load(`export default { plugins: ['acme-tools'] };`);
    const { config, plugins, pluginSkills = [] } = loaded;
    expect(config).not.toHaveProperty('plugins');
    expect(config.tools?.map(({ name }) => name)).toEqual(['acme_add']);
    expect(config.agents?.['helper']).toMatchObject({ description: 'Helps.', prompt: 'Help well.', tools: ['acme_add'] });
    expect(config.hooks?.map(({ name }) => name)).toEqual(['acme-audit']);
    expect(Object.keys({ ...config.providers, ...config.mcpServers })).toEqual(['acme', 'acmedocs']);
    expect(plugins).toEqual([
      {
        name: 'acme-tools',
        file: join(folder.path, 'node_modules/acme-tools/dist/index.js'),
        tools: ['acme_add'],
        agents: ['helper'],
        skills: ['greet'],
        hooks: ['acme-audit'],
        providers: ['acme'],
        mcpServers: ['acmedocs'],
      },
    ]);
    const { skills } = await findSkills({ worker: folder.path, plugins: pluginSkills });
    expect(skills).toMatchObject([{ name: 'greet', path: 'acme-tools/skills/greet/SKILL.md', from: 'worker' }]);
    expect(listAgents(loaded).find(({ name }) => name === 'helper')).toMatchObject({ definedIn: 'plugin acme-tools' });
  });

  it('no tool of a run can change what the worker loads: its module and its agents', async () => {
    const { protected: paths = [] } = await load(`export default { plugins: ['acme-tools'] };`);
    expect(paths).toContain(join(folder.path, 'node_modules/acme-tools/dist/index.js'));
    expect(paths).toContain(join(folder.path, 'node_modules/acme-tools/agents/*.md'));
  });

  it('the config wins: its own tool, agent, provider, server and skill replace those of a plugin, with a notice', async () => {
    await write('agents/helper.md', '---\ndescription: Own.\n---\nOwn prompt.\n');
    await write('skills/greet/SKILL.md', '---\nname: greet\ndescription: Own greeting.\n---\nHi.\n');
    const loaded = await load(`${START}export default { plugins: ['acme-tools'],
      tools: [${TOOL('acme_add', ", effect: 'read'")}],
      providers: { acme: { api: 'anthropic', baseUrl: 'https://own.example.com' } },
      mcpServers: { acmedocs: { command: 'own' } } };`);
    const { config, plugins, notices, pluginSkills = [] } = loaded;
    expect(config.tools?.map(({ effect }) => effect)).toEqual(['read']);
    expect(config.agents?.['helper']?.description).toBe('Own.');
    expect(config.providers?.['acme']).toMatchObject({ api: 'anthropic' });
    expect(config.mcpServers?.['acmedocs']).toEqual({ command: 'own' });
    expect(plugins).toMatchObject([{ tools: [], agents: [], providers: [], mcpServers: [], hooks: ['acme-audit'] }]);
    expect(notices).toEqual(
      ['tools.acme_add', 'agents.helper', 'providers.acme', 'mcpServers.acmedocs'].map(
        (name) => `plugin acme-tools: ${name} is replaced by the config's own`,
      ),
    );
    expect((await findSkills({ worker: folder.path, plugins: pluginSkills })).skills).toMatchObject([{ description: 'Own greeting.' }]);
  });

  it('a problem of what a plugin brings names the plugin, and the file if there is one', async () => {
    await write('node_modules/acme-tools/agents/broken.md', '---\ndescription: d\ntools: [acme_ad]\n---\np\n');
    expect(await problemsOf(`export default { plugins: ['acme-tools'] };`)).toMatch(
      /plugin acme-tools: \S+agents\/broken\.md:3: agents\.broken: no tool named "acme_ad" \(did you mean acme_add\?\)/u,
    );
  });
});

describe('a plugin that is a path or an object', () => {
  it('a TypeScript module by its path, whose folders are relative to it', async () => {
    await write('plugins/mine/index.ts', `${START}export default definePlugin({ name: 'mine' as string, agents: './crew' });`);
    await write('plugins/mine/crew/pilot.md', '---\ndescription: Flies.\n---\nFly.\n');
    const { config, plugins } = await load(`export default { plugins: ['./plugins/mine/index.ts'] };`);
    expect(config.agents).toHaveProperty('pilot');
    expect(plugins).toMatchObject([{ name: 'mine', file: join(folder.path, 'plugins/mine/index.ts'), agents: ['pilot'] }]);
  });

  it('an object, and one that the config imports and that says where it is', async () => {
    await write('lib/other.mjs', `export const other = { name: 'other', from: import.meta.url, agents: './crew' };`);
    await write('lib/crew/pilot.md', '---\ndescription: Flies.\n---\nFly.\n');
    const { plugins } = await load(
      `${START}import { other } from './lib/other.mjs';\nexport default { plugins: [{ name: 'inline', tools: [${TOOL('x')}] }, other] };`,
    );
    expect(plugins).toMatchObject([
      { name: 'inline', tools: ['x'] },
      { name: 'other', agents: ['pilot'] },
    ]);
  });

  it('a tool of an AI SDK plugin and a JSON config: names work in every format of a config', async () => {
    await write('plugins/mine.mjs', `${START}export default { name: 'mine', tools: [${TOOL('x')}] };`);
    await write('perdure.config.json', '{"plugins":["./plugins/mine.mjs"]}');
    expect((await loadConfig({ cwd: folder.path, env: { XDG_CACHE_HOME: folder.path } })).config.tools).toHaveLength(1);
  });
});

describe('a plugin that cannot be used', () => {
  it.each([
    [`['acme-none']`, /plugins\.0: the package "acme-none" was not found from \S+\. Install it with 'npm install acme-none'\./u],
    [`['./none.mjs']`, /plugins\.0: there is no module at "\.\/none\.mjs" \(from \S+\)/u],
    [`['./throws.mjs']`, /plugins\.0: "\.\/throws\.mjs" cannot be loaded: \S+throws\.mjs: no licence$/mu],
    [`['./syntax.mjs']`, /plugins\.0: "\.\/syntax\.mjs" cannot be loaded: \S+syntax\.mjs:2:\d+: /u],
    [
      `['./number.mjs']`,
      /plugins\.0: "\.\/number\.mjs" does not export a plugin\. Use export default definePlugin\(\{ name, … \}\) in \S+number\.mjs\./u,
    ],
    [`['./named.mjs']`, /plugins\.0: "\.\/named\.mjs" does not export a plugin/u],
    [`['./typo.mjs']`, /plugins\.0\.toolz: unknown \(did you mean tools\?\)/u],
    [
      `[{ name: 'a', agents: { b: { description: 'd', prompt: 'p', maxturns: 3 } } }]`,
      /plugins\.0\.agents\.b\.maxturns: unknown \(did you mean maxTurns\?\)/u,
    ],
    [`[{ name: 'a', tools: [{}] }]`, /plugins\.0\.tools\.0: a tool made with defineTool/u],
    [`[{ tools: [] }]`, /plugins\.0\.name: missing/u],
    [`[{ name: 'a', skills: './none' }]`, /plugins\.0\.skills: \.\/none: no skills in \S+/u],
    [`[{ name: 'a', agents: './none' }]`, /plugins\.0\.agents: \.\/none: no agents in \S+/u],
    [`[{ name: 'a' }, { name: 'a' }]`, /plugins\.1: a plugin named "a" is already listed/u],
    [`[{ name: 'a', tools: [x] }, { name: 'b', tools: [x] }]`, /tools: TOOL_NAME "x" is defined by the plugins "a" and "b"/u],
    [`[{ name: 'a', tools: [x, x] }]`, /tools: TOOL_NAME "x" is defined twice/u],
    [`[{ name: 'a', tools: [builtIn] }]`, /tools: TOOL_NAME "read_file" is the name of a built-in tool/u],
    [
      `[{ name: 'a', agents: { c: { description: 'd', prompt: 'p' } } }, { name: 'b', agents: { c: { description: 'd', prompt: 'p' } } }]`,
      /agents: "c" is defined by the plugins "a" and "b"/u,
    ],
    [`[{ name: 'a', providers: { p: { api: 'anthropic', baseUrl: 'ftp://x' } } }]`, /plugin a: providers\.p\.baseUrl: BAD_BASE_URL/u],
  ])('B24: plugins: %s is refused with the reason', async (plugins, problem) => {
    await write('throws.mjs', `throw new Error('no licence\\nat line 3');`);
    await write('syntax.mjs', `export default {\n  name 'x' };`);
    await write('number.mjs', 'export default 7;');
    await write('named.mjs', `export const plugin = { name: 'x' };`);
    await write('typo.mjs', `export default { name: 'typo', toolz: [] };`);
    const start = `${START}const [x, builtIn] = [${TOOL('x')}, ${TOOL('read_file')}];\n`;
    expect(await problemsOf(`${start}export default { plugins: ${plugins} };`)).toMatch(problem);
  });

  it('all plugins that cannot be loaded are reported at once', async () => {
    const problems = await problemsOf(`export default { plugins: ['./one.mjs', './two.mjs'] };`);
    expect(problems).toMatch(/plugins\.0: .*; plugins\.1: /u);
  });
});

async function load(text: string): Promise<LoadedConfig> {
  await write('perdure.config.mjs', text);
  return await loadConfig({ cwd: folder.path, env: { XDG_CACHE_HOME: folder.path } });
}

async function problemsOf(text: string): Promise<string> {
  return await load(text).then(
    () => 'no problem',
    (error: Error) => error.message,
  );
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder.path, path)), { recursive: true });
  await writeFile(join(folder.path, path), text);
}

/** Packs the package as `npm publish` would, and installs it without a network. Gives the folder of installed packages. */
async function packAndInstall(into: string): Promise<string> {
  const source = join(into, 'source');
  for (const [path, text] of Object.entries(PACKAGE)) {
    await mkdir(dirname(join(source, path)), { recursive: true });
    await writeFile(join(source, path), text);
  }
  const npm = async (args: readonly string[], cwd: string): Promise<void> =>
    void (await promisify(execFile)('npm', args, { cwd, env: { ...process.env, npm_config_cache: join(into, 'cache') } }));
  await npm(['pack', '--pack-destination', into], source);
  const project = join(into, 'project');
  await mkdir(project);
  await writeFile(join(project, 'package.json'), '{"private":true}');
  await npm(['install', '--offline', '--no-audit', '--no-fund', join(into, 'acme-tools-1.2.3.tgz')], project);
  return join(project, 'node_modules');
}
