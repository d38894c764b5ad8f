import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { builtCli } from '../../support/built-package.js';
import { useCurrentFolder } from '../../support/temp-folder.js';
import { commandHere } from '../support/command-here.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const CONFIG = `
import { defineTool } from 'perdure';
import { z } from 'zod';
const base = { description: 'For tests.', parameters: z.strictObject({ n: z.number() }) };
export default {
  plugins: [{ name: 'acme', tools: [defineTool({ ...base, name: 'acme_tool', execute: () => 1 })] }],
  tools: [
    defineTool({ ...base, name: 'double', effect: 'read', execute: ({ n }, { log, heartbeat }) => { log.info('doubling ' + n); heartbeat({ n }); return { doubled: 2 * n }; } }),
    defineTool({ ...base, name: 'failing', execute: () => { throw new Error('no such order'); } }),
    defineTool({ ...base, name: 'slow', timeoutMs: 1_000, execute: (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))) }),
    defineTool({ ...base, name: 'long', execute: () => 'x'.repeat(200_000) + 'end' }),
    defineTool({ ...base, name: 'leaking', execute: () => 'the key is ' + 'sk-planted-0123456789' }),
    defineTool({ ...base, name: 'picture', execute: () => [{ type: 'text', text: 'seen' }, { type: 'file', mime: 'image/png', dataBase64: '' }] }),
    defineTool({ name: 'json_tool', description: 'd', parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }, execute: ({ city }) => city }),
    defineTool({ ...base, name: 'where', execute: (_, { workspace, idempotencyKey, runId }) => ({ workspace, keyed: idempotencyKey.startsWith(runId) }) }),
  ],
};
`;

const folder = useCurrentFolder('perdure-tool-');

describe('perdure tool new', () => {
  it('writes a tool and its test, and prints what to add to the config', async () => {
    const { code, stdout } = await commandHere('tool', 'new', 'read_ticket', '--effect', 'read');
    expect(code).toBe(0);
    expect(stdout).toContain('created tools/read-ticket.ts\ncreated test/read-ticket.test.ts\n');
    expect(stdout).toContain("import { readTicket } from './tools/read-ticket.ts';");
    expect(stdout).toContain(`perdure tool test read_ticket '{"text":"hello"}'`);
    expect(await readFile('tools/read-ticket.ts', 'utf8')).toMatch(/effect: 'read'/u);
  });

  it.each([
    ['zod', 'once', 'sendMail'],
    ['json', 'idempotent', 'charge'],
  ])(
    'with schema %s and effect %s, the test passes, and the tool runs by tool test',
    { timeout: 120_000 },
    async (schema, effect, name) => {
      builtCli();
      await linkPackages();
      expect((await commandHere('tool', 'new', name, '--effect', effect, '--schema', schema)).code).toBe(0);
      const file = (await readdir('tools'))[0] ?? '';
      const args = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder.path];
      const { stdout } = await promisify(execFile)(process.execPath, args, {
        cwd: folder.path,
        env: { PATH: process.env['PATH'], NO_COLOR: '1' },
      });
      expect(stdout).toContain('3 passed');
      await put('perdure.config.ts', `import { ${name} } from './tools/${file}';\nexport default { tools: [${name}] };`);
      expect(await commandHere('tool', 'test', name, '{"text":"hello"}')).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^received hello/u),
      });
    },
  );

  it('overwrites nothing: one existing file stops it before it writes any', async () => {
    await put('test/read-ticket.test.ts', 'mine');
    const { code, stderr } = await commandHere('tool', 'new', 'read_ticket');
    expect([code, stderr]).toEqual([4, expect.stringContaining('FILE_EXISTS')]);
    expect(await readFile('test/read-ticket.test.ts', 'utf8')).toBe('mine');
    expect(await readdir(folder.path)).toEqual(['test']);
  });

  it.each([
    [['two words'], 'TOOL_NAME'],
    [['../up'], 'TOOL_NAME'],
    [['1st'], 'TOOL_NAME'],
    [['read_file'], 'TOOL_NAME: "read_file" is the name of a built-in tool'],
    [['x', '--effect', 'reads'], 'BAD_OPTION: --effect "reads": use read, idempotent, once (did you mean read?)'],
    [['x', '--schema', 'yaml'], 'BAD_OPTION: --schema "yaml": use zod, json'],
  ])('B24: tool new %j is refused and writes nothing', async (args, problem) => {
    const { code, stderr } = await commandHere('tool', 'new', ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(problem);
    expect(await readdir(folder.path)).toEqual([]);
  });

  it('a name of JavaScript becomes a valid export', async () => {
    await commandHere('tool', 'new', 'delete');
    expect(await readFile('tools/delete.ts', 'utf8')).toContain("export const deleteTool = defineTool({\n  name: 'delete',");
  });
});

describe('perdure tool test', () => {
  beforeEach(() => put('perdure.config.mjs', CONFIG));

  it('runs a tool once: its result on stdout, its log and progress on stderr', async () => {
    const { code, stdout, stderr } = await commandHere('tool', 'test', 'double', '{"n":21}');
    expect([code, stdout]).toEqual([0, '{"doubled":42}\n']);
    expect(stderr).toMatch(/^info: doubling 21\nprogress: \{"n":21\}\ndouble: ok after \d+ ms\n$/u);
  });

  it('--json prints one document with result, log and time', async () => {
    const { stdout } = await commandHere('tool', 'test', 'double', '{"n":1}', '--json');
    expect(JSON.parse(stdout)).toEqual({
      tool: 'double',
      outcome: 'ok',
      parts: [{ type: 'text', text: '{"doubled":2}' }],
      durationMs: expect.any(Number),
      log: [
        { level: 'info', message: 'doubling 1' },
        { level: 'progress', message: '{"n":1}' },
      ],
    });
  });

  it('tools of plugins, of JSON Schema and built-in ones, in a workspace', async () => {
    await put('work/notes.md', 'the notes');
    expect((await commandHere('tool', 'test', 'acme_tool', '{"n":1}')).stdout).toBe('1\n');
    expect((await commandHere('tool', 'test', 'json_tool', '{"city":"Rome"}')).stdout).toBe('Rome\n');
    expect((await commandHere('tool', 'test', 'read_file', '{"path":"notes.md"}', '--workspace', 'work')).stdout).toContain('the notes');
    const { stdout } = await commandHere('tool', 'test', 'where', '{"n":1}', '--workspace', 'work');
    expect(JSON.parse(stdout)).toEqual({ workspace: join(folder.path, 'work'), keyed: true });
  });

  it('a long output is cut as in a run, with the whole in the state folder', async () => {
    const { stdout } = await commandHere('tool', 'test', 'long', '{"n":1}');
    expect(Buffer.byteLength(stdout)).toBeLessThan(60_000);
    expect(stdout).toMatch(/read_artifact/u);
    expect((await readdir(join('.perdure', 'artifacts'), { recursive: true })).length).toBeGreaterThan(0);
  });

  it.each([
    ['failing', 'no such order\n', /failing: failed after/u],
    ['slow', 'stopped\n', /slow: timeout after/u],
    ['picture', /its result is refused/u, /picture: failed after/u],
  ])('a tool that does not succeed exits with 1: %s', async (name, out, err) => {
    const { code, stdout, stderr } = await commandHere('tool', 'test', name, '{"n":1}');
    expect(code).toBe(1);
    expect(stdout).toMatch(out);
    expect(stderr).toMatch(err);
  });

  it.each([
    [['double', '{"n":'], 'BAD_JSON: the arguments "{\\"n\\":" are not JSON: '],
    [['duble', '{"n":1}'], 'UNKNOWN_TOOL: no tool named "duble" (did you mean double?)'],
    [['double', '{"n":"two"}'], 'BAD_ARGUMENTS: invalid arguments for double: n: '],
    [['double', '[]'], 'BAD_ARGUMENTS'],
    [['double'], 'BAD_ARGUMENTS'],
    [['json_tool', '{}'], 'BAD_ARGUMENTS: invalid arguments for json_tool: arguments: Instance does not have required property "city"'],
    [['read_file', '{"path":"x"}', '--workspace', 'none'], 'WORKSPACE'],
  ])('tool test %j is refused with exit code 2, and nothing runs', async (args, problem) => {
    const { code, stdout, stderr } = await commandHere('tool', 'test', ...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(problem);
  });

  it('X16: a key of the worker is masked in the result', async () => {
    process.env['OPENAI_API_KEY'] = 'sk-planted-0123456789';
    try {
      expect((await commandHere('tool', 'test', 'leaking', '{"n":1}')).stdout).not.toContain('sk-planted');
    } finally {
      delete process.env['OPENAI_API_KEY'];
    }
  });
});

describe('perdure tool list, agents and doctor', () => {
  it('tool list shows each tool with its effect, and where it is defined', async () => {
    await put('perdure.config.mjs', CONFIG);
    const { code, stdout } = await commandHere('tool', 'list');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^TOOL +EFFECT +DEFINED IN +DESCRIPTION\n/u);
    expect(stdout).toMatch(/\nacme_tool +once +plugin acme +For tests\.\n/u);
    expect(stdout).toMatch(/\ndouble +read +perdure\.config\.mjs +For tests\.\n/u);
    expect(stdout).toMatch(/\nread_file +read +built-in +/u);
    const { tools } = JSON.parse((await commandHere('tool', 'list', '--json')).stdout) as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['acme_tool', 'double', 'update_plan', 'remember', 'apply_patch']),
    );
  });

  it('agents and doctor show what came from which plugin', async () => {
    await put('perdure.config.mjs', `export default { plugins: ['./acme.mjs'] };`);
    await put('acme.mjs', `export default { name: 'acme', agents: { pilot: { description: 'Flies.', prompt: 'Fly.' } } };`);
    expect((await commandHere('agents')).stdout).toMatch(/\npilot +default +plugin acme +Flies\.\n/u);
    const { stdout } = await commandHere('doctor', '--json', '--address', '127.0.0.1:1');
    const checks = JSON.parse(stdout) as { name: string; level: string; detail: string }[];
    expect(checks.find(({ name }) => name === 'plugin acme')).toEqual({
      level: 'ok',
      name: 'plugin acme',
      detail: 'agents pilot; from acme.mjs',
    });
  });
});

/** What an installed project has: this package, and the packages that the written files import. */
async function linkPackages(): Promise<void> {
  await mkdir('node_modules');
  await writeFile('package.json', '{"type":"module"}');
  await symlink(ROOT, join('node_modules', 'perdure'));
  for (const name of ['vitest', 'zod']) await symlink(join(ROOT, 'node_modules', name), join('node_modules', name));
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder.path, path)), { recursive: true });
  await writeFile(join(folder.path, path), text);
}
