import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/worker/config/load-config.js';
import { useTempFolder } from '../../support/temp-folder.js';
import { configProblems } from '../support/config-problems.js';

const TOOL = `import { defineConfig, defineTool } from 'perdure';
import { z } from 'zod';
const add = defineTool({ name: 'add', description: 'Adds.', parameters: z.strictObject({ a: z.number() }), effect: 'read', execute: ({ a }) => a + 1 });
const json = (properties) => defineTool({ ...add, schema: undefined, parameters: { type: 'object', properties } });
`;

describe('loadConfig', () => {
  const folder = useTempFolder('perdure-config-');

  it('without a file the defaults stand', async () => {
    expect(await load()).toMatchObject({ config: {}, file: undefined });
  });

  it('a TypeScript config in a folder without packages imports perdure and zod', async () => {
    await write('perdure.config.ts', `${TOOL}export default defineConfig({ model: 'openai/m' as string, tools: [add] });`);
    const { config, file } = await load();
    expect(file).toBe(join(folder.path, 'perdure.config.ts'));
    expect(config.model).toBe('openai/m');
    expect(config.tools?.map((tool) => [tool.name, tool.effect])).toEqual([['add', 'read']]);
  });

  it("what the loader keeps of a config is in the user's cache folder, not in one that others can fill", async () => {
    await write('perdure.config.ts', `export default { model: 'openai/m' as string };`);
    await load();
    expect((await readdir(join(folder.path, 'cache', 'perdure', 'config'))).length).toBeGreaterThan(0);
  });

  it.each(['mjs', 'js'])('a config as .%s is read too', async (extension) => {
    await write(`perdure.config.${extension}`, `export default { model: 'openai/m' };`);
    expect((await load()).config.model).toBe('openai/m');
  });

  it('a config as .json is read too, also with a byte order mark', async () => {
    await write('perdure.config.json', '\uFEFF{"model":"openai/m"}');
    expect((await load()).config.model).toBe('openai/m');
  });

  it('a config file may be named, and a missing one is said', async () => {
    await write('other/mine.mjs', `export default { model: 'openai/named' };`);
    expect((await loadConfig({ cwd: folder.path, configFile: 'other/mine.mjs', env: { XDG_CACHE_HOME: folder.path } })).config.model).toBe(
      'openai/named',
    );
    await expect(loadConfig({ cwd: folder.path, configFile: 'none.ts', env: {} })).rejects.toMatchObject({ code: 'CONFIG', exitCode: 2 });
  });

  it('B19: a syntax error is told as FILE:LINE:COLUMN, also in a file that the config imports', async () => {
    await write('perdure.config.ts', 'export default {\n  model: "x"\n  tools: [],\n};\n');
    await expect(load()).rejects.toMatchObject({
      code: 'CONFIG',
      exitCode: 2,
      message: expect.stringMatching(/perdure\.config\.ts:3:3: [^\n]+$/u),
    });
    await write('perdure.config.ts', `import { model } from './model.ts';\nexport default { model };`);
    await write('model.ts', 'export const model = 1 +;\n');
    await expect(load()).rejects.toMatchObject({ message: expect.stringMatching(/model\.ts:1:25: /u) });
  });

  it.each([
    ['{\n  "model": "x",\n  "tools" []\n}', '3:11'],
    ['{\n  "model": "x"', '2:15'],
    ['{\n  "model": "x\n}', '2:14'],
    ['{ "limits": { "maxTurns": 3, } }', '1:30'],
    ["{ 'model': 1 }", '1:3'],
    ['{}\n{}', '2:1'],
    ['', '1:1'],
  ])('B19: broken JSON %j is told at %s', async (text, place) => {
    await write('perdure.config.json', text);
    await expect(load()).rejects.toMatchObject({ message: expect.stringContaining(`perdure.config.json:${place}: `) });
  });

  it('B26: a file in UTF-16 is refused as not UTF-8', async () => {
    await writeFile(join(folder.path, 'perdure.config.json'), Buffer.from('\uFEFF{"model":"openai/m"}', 'utf16le'));
    await expect(load()).rejects.toMatchObject({ message: expect.stringContaining('not UTF-8') });
  });

  it('what a config throws and what it cannot import is one line', async () => {
    await write('perdure.config.mjs', `throw new Error('the vault is shut\\nsecond line');`);
    await expect(load()).rejects.toMatchObject({ message: `${join(folder.path, 'perdure.config.mjs')}: the vault is shut` });
    await write('perdure.config.mjs', `import { x } from './nothing.js';\nexport default { model: x };`);
    await expect(load()).rejects.toMatchObject({ message: expect.stringMatching(/^[^\n]*nothing\.js[^\n]*$/u) });
  });

  it('B20: all problems are told at once, each with its path and what may have been meant', async () => {
    const problems = await problemsOf(
      `{ modell: 'openai/m', agents: { a: { description: 'd', prompt: 1, maxturns: 3 } }, limits: { maxTurns: 0 }, prices: { 'openai/m': { input: -1, output: 1 } },
        providers: { p: { api: 'openai-chat', baseUrl: 'https://h', quirk: {} } } }`,
    );
    for (const part of [
      'modell: unknown (did you mean model?)',
      'agents.a.prompt: ',
      'agents.a.maxturns: unknown (did you mean maxTurns?)',
      'limits.maxTurns: ',
      'prices.openai/m.input: ',
      'providers.p.quirk: unknown (did you mean quirks?)',
    ]) {
      expect(problems).toContain(part);
    }
  });

  it.each([
    [`{ model: 'gpt-5/' }`, 'model: use provider/model'],
    [`{ model: 'opnai/gpt-5' }`, 'did you mean openai?'],
    [`{ agents: { a: { description: 'd', prompt: 'p', model: 'nobody/m' } } }`, 'agents.a.model: unknown provider "nobody"'],
    [`{ prices: { m: { input: 1, output: 1 } } }`, 'prices.m: use provider/model'],
    [`{ contextWindows: { m: 8192 } }`, 'contextWindows.m: use provider/model'],
    [`{ contextWindows: { 'openai/m': 12 } }`, 'contextWindows.openai/m: '],
    [`{ credentials: { nobody: ['env:X'] } }`, 'credentials: unknown provider "nobody"'],
    [`{ credentials: { openai: ['sk-12345678'] } }`, 'credentials.openai.0: a reference like "env:OPENAI_API_KEY"'],
    [
      `{ providers: { p: { api: 'anthropic', baseUrl: 'https://h', credentials: 'sk-12345678' } } }`,
      'providers.p.credentials: a reference like',
    ],
    [
      `{ providers: { 'a/b': { api: 'anthropic', baseUrl: 'https://h' } } }`,
      'providers.a/b: use A-Z a-z 0-9 . _ - in the name of a provider',
    ],
    [`{ providers: { scripted: { api: 'anthropic', baseUrl: 'https://h' } } }`, 'providers.scripted: this name is reserved'],
    [
      `{ agents: { a: { description: 'd', prompt: 'p', tools: ['read_fil'] } } }`,
      'agents.a: no tool named "read_fil" (did you mean read_file?)',
    ],
  ])('a reference that leads nowhere is told: %s', async (text, part) => {
    expect(await problemsOf(text)).toContain(part);
  });

  it.each([
    ['ftp://h', 'is not http or https'],
    ['https://user:secret@h', 'contains credentials'],
    ['api.example.com', 'not a URL'],
    ['http://api.example.com', 'plain http to another machine'],
    ['https://h/v1?key=1', 'a query'],
  ])('B23: the address %s is refused', async (baseUrl, part) => {
    const problems = await problemsOf(`{ providers: { p: { api: 'anthropic', baseUrl: '${baseUrl}' } } }`);
    expect(problems).toContain('providers.p.baseUrl: BAD_BASE_URL');
    expect(problems).toContain(part);
    expect(problems).not.toContain('secret');
  });

  it('B23: plain http is taken to this machine, and to another when it is asked for', async () => {
    const local = `p: { api: 'anthropic', baseUrl: 'http://127.0.0.1:1' }, q: { api: 'anthropic', baseUrl: 'http://[::1]:1' }`;
    await write(
      'perdure.config.mjs',
      `export default { providers: { ${local}, r: { api: 'anthropic', baseUrl: 'http://h', allowInsecure: true } } };`,
    );
    expect(Object.keys((await load()).config.providers ?? {})).toEqual(['p', 'q', 'r']);
  });

  it.each([
    ['[add, add]', 'tools: TOOL_NAME "add" is defined twice'],
    [`[{ ...add, name: 'read_file' }]`, 'tools: TOOL_NAME "read_file" is the name of a built-in tool'],
    [`[{ ...add, name: 'two words' }]`, 'tools.0: a tool made with defineTool'],
    [`[{ name: 'x', execute() {} }]`, 'tools.0: a tool made with defineTool'],
    [`[{ ...add, approval: 'allways' }]`, 'tools.add.approval: use "never", "always" or a function of the arguments'],
    [`[{ ...add, parameters: z.string() }]`, 'tools.add.parameters: use an object schema'],
    [`[{ ...add, parameters: z.strictObject({ a: z.date() }) }]`, 'tools.add.parameters: cannot be converted to JSON Schema'],
    [`[{ ...add, parameters: z.strictObject({ a: z.string().describe('x'.repeat(70_000)) }) }]`, 'bytes (limit: 65536)'],
    [
      `[json({ a: { $ref: 'http://127.0.0.1:9/a.json' } })]`,
      'refers to another document: parameters.properties.a.$ref: only references inside the schema',
    ],
    [
      `[json({ a: { items: { $ref: 'other.json#/a' } } })]`,
      'refers to another document: parameters.properties.a.items.$ref: only references inside the',
    ],
    [`[json({ a: { $ref: '#/$defs/none' } })]`, 'tools.add.parameters.properties.a.$ref: points to nothing in this schema'],
    [`[json({ a: { type: 'text' } })]`, 'tools.add.parameters.properties.a.type: use array, boolean'],
    [`[json({ a: { pattern: '(' } })]`, 'tools.add.parameters.properties.a.pattern: Invalid regular expression'],
  ])('B24, B25: tools %s are refused with their place, and nothing is fetched', async (tools, part) => {
    await write('perdure.config.ts', `${TOOL}export default { tools: ${tools} };`);
    await expect(load()).rejects.toMatchObject({ code: 'CONFIG', message: expect.stringContaining(part) });
  });

  it('X5: provider keys and those of the config leave the environment, keys of other services stay', async () => {
    await write('perdure.config.mjs', `export default { credentials: { openai: ['env:MY_KEY'] } };`);
    const kept = { SEARCH_API_KEY: 'k-search', XDG_CACHE_HOME: folder.path };
    const env = { ...kept, OPENAI_API_KEY: 'k-openai', ANTHROPIC_API_KEY_2: 'k-anthropic', MY_KEY: ' k-mine\n' };
    const { keys } = await loadConfig({ cwd: folder.path, env });
    expect(env).toEqual(kept);
    expect(keys.resolve('env:MY_KEY')).toBe('k-mine');
    expect([...keys.names()].toSorted()).toEqual(['ANTHROPIC_API_KEY_2', 'MY_KEY', 'OPENAI_API_KEY']);
  });

  it('a config loaded again in the same process still has its keys', async () => {
    const env = { OPENAI_API_KEY: 'k-openai' };
    const first = await loadConfig({ cwd: folder.path, env });
    const second = await loadConfig({ cwd: folder.path, env });
    expect(second.keys.resolve('OPENAI_API_KEY')).toBe('k-openai');
    expect(second.hash).toBe(first.hash);
  });

  it('the hash changes with a key, with a model of the environment, and with the code of a tool in another file', async () => {
    await write('perdure.config.ts', `import { add } from './add.ts';\nexport default { tools: [add] };`);
    await write('add.ts', `${TOOL}export { add };`);
    const hashes = [
      await load(),
      await load({ OPENAI_API_KEY: 'one' }),
      await load({ OPENAI_API_KEY: 'two' }),
      await load({ PERDURE_MODEL: 'a/b' }),
    ];
    await write('add.ts', `${TOOL.replace('a + 1', 'a + 2')}export { add };`);
    hashes.push(await load());
    expect(new Set(hashes.map(({ hash }) => hash)).size).toBe(5);
    expect((await load()).hash).toBe(hashes.at(-1)?.hash);
    expect(JSON.stringify(hashes.map(({ hash }) => hash))).not.toMatch(/one|two/u);
  });

  it('a tool that carries more than its fields is taken, whatever that is', async () => {
    await write(
      'perdure.config.ts',
      `${TOOL}const extra = { n: 1n, self: {} };\nextra.self = extra;\nexport default { tools: [{ ...add, extra }] };`,
    );
    expect((await load()).config.tools).toHaveLength(1);
  });

  it('agents of files have their options in front of their prompt; a file without front matter is none', async () => {
    await write('agents/reviewer.md', '---\r\ndescription: Reviews.\r\ntools: [read_file]\r\nmaxTurns: 7\r\n---\r\n\r\nLook twice.\r\n');
    await write('agents/README.md', '# Our agents\n');
    await write('perdure.config.mjs', `export default { agents: { other: { description: 'd', prompt: 'p' } } };`);
    const { config } = await load();
    expect(config.agents).toEqual({
      other: { description: 'd', prompt: 'p' },
      reviewer: { description: 'Reviews.', tools: ['read_file'], maxTurns: 7, prompt: 'Look twice.' },
    });
  });

  it('problems of agents in files are told with those of the config', async () => {
    await write('agents/a.md', '---\ndescription: d\nmodle: x\n---\nprompt');
    await write('agents/b.md', '---\ndescription: [d\n---\nprompt');
    await write('agents/c.md', '---\ndescription: d\n---\n');
    await write('agents/d.md', '---\ndescription: d\n---\nprompt');
    await write('perdure.config.mjs', `export default { agents: { d: { description: 'd', prompt: 'p' } }, model: '/m' };`);
    const message = await load().then(
      () => '',
      (error: Error) => error.message,
    );
    for (const part of [
      'agents.a.modle: unknown (did you mean model?)',
      'a.md:3: agents.a.modle',
      'b.md:3:1: ',
      'agents.c.prompt: ',
      'agents.d: also defined in',
      'model: use provider/model',
    ])
      expect(message).toContain(part);
  });

  async function write(name: string, text: string): Promise<void> {
    await mkdir(dirname(join(folder.path, name)), { recursive: true });
    await writeFile(join(folder.path, name), text);
  }

  function load(env: NodeJS.ProcessEnv = {}) {
    return loadConfig({ cwd: folder.path, env: { XDG_CACHE_HOME: join(folder.path, 'cache'), ...env } });
  }

  async function problemsOf(text: string): Promise<string> {
    await write('perdure.config.mjs', `export default ${text};`);
    return await configProblems(load());
  }
});
