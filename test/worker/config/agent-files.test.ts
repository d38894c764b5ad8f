import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CONFIG_LIMITS } from '../../../src/contracts/constants/limits.js';
import { AgentDefinition } from '../../../src/define/define-agent.js';
import { type LoadedConfig, loadConfig } from '../../../src/worker/config/load-config.js';
import { useTempFolder } from '../../support/temp-folder.js';

const folder = useTempFolder('perdure-agent-files-');

describe('agents/NAME.md', () => {
  it('may have every field of an agent that is data, in the schema of defineAgent', async () => {
    const fields = {
      description: 'd',
      model: 'openai/m',
      fallbacks: ['openai/n'],
      thinking: 'low',
      tools: ['read_file'],
      blockedTools: ['run_command'],
      gate: { profile: 'ask-before-writing', rules: [{ tool: 'run_command', command: 'rm', decision: 'block', reason: 'no' }] },
      maxTurns: 7,
      budget: { maxTokens: 1_000, onBudget: 'ask' },
      heartbeatTimeoutMs: 20_000,
      preset: 'zkit',
      promptTemplate: true,
      promptMode: 'full',
      rules: ['Be brief.'],
      skills: 'all',
      workspaceSkills: true,
      expandSkills: true,
      loop: { nudgeAt: 2 },
      memo: false,
      compaction: { strategies: ['trim'] },
    };
    await put('agents/a.md', `---\n${JSON.stringify(fields)}\n---\nServe {{customer}}.\n`);
    const { config } = await load();
    expect(config.agents?.['a']).toEqual({ ...AgentDefinition.parse({ ...fields, prompt: 'x' }), prompt: 'Serve {{customer}}.' });
  });

  it.each([
    ['modle: x', 'a.md:3: agents.a.modle: unknown (did you mean model?)'],
    ['maxTurns: many', 'a.md:3: agents.a.maxTurns: '],
    ['budget:\n  maxTokens: 5\n  maxCost: 1', 'a.md:5: agents.a.budget.maxCost: unknown (did you mean maxCostUsd?)'],
    ['tools:\n  - read_file\n  - read_fil', 'a.md:5: agents.a: no tool named "read_fil" (did you mean read_file?)'],
    ['fallbacks:\n  - openai/m\n  - opnai/m', 'a.md:5: agents.a.fallbacks.1: unknown provider "opnai"'],
    ['promptMode: minimum', 'a.md:3: agents.a.promptMode: '],
    ['prompt: hello', 'a.md:3: prompt: the prompt is the text below the front matter'],
    ['completionGate: check', 'a.md:3: completionGate: a function cannot be in a file; define this agent in the config'],
    ['expandSkills: true', 'a.md:3: agents.a.expandSkills: the agent has no skills; set skills or workspaceSkills'],
    ['skills: all\npromptMode: minimal', 'a.md:4: agents.a.promptMode: a prompt of mode minimal has no skills'],
    ['mcp: [files]', 'a.md:3: agents.a.mcp: no MCP server named "files"'],
  ])('%j is told with its line and the right word', async (line, problem) => {
    await put('agents/a.md', `---\ndescription: d\n${line}\n---\nprompt\n`);
    expect(await problems()).toContain(problem);
  });

  it.each<[string, string, string]>([
    ['a key that is defined twice', 'maxTurns: 1\nmaxTurns: 2', 'a.md:3:1: an option is defined twice'],
    ['a tab', 'budget:\n\tmaxTokens: 1', 'a.md:3:1: tabs cannot indent YAML; use spaces'],
    ['a list', '- one\n- two', 'a.md:2:1: the front matter is not a list of options'],
    ['a bracket that is open', 'tools: [read_file', 'a.md:3:1: '],
    ['a bomb of aliases', bomb(), 'a.md:2:1: the front matter is too large with its aliases expanded (limit: 1048576 bytes)'],
    [
      'a large text with aliases',
      `a: &a ${'x'.repeat(60_000)}\nb: [${Array.from({ length: 90 }, () => '*a').join(',')}]`,
      'too large with its aliases expanded',
    ],
    ['deep brackets', `a: ${'['.repeat(50_000)}`, 'a.md:2:1: the front matter is nested too deeply (limit: 64 levels)'],
    ['deep lists', `${'- '.repeat(50_000)}a`, 'a.md:2:1: the front matter is nested too deeply'],
    ['deep indentation', Array.from({ length: 400 }, (__, at) => `${' '.repeat(at)}a:`).join('\n'), 'agents.a.a: unknown'],
  ])('B26: %s is a problem with its place', async (_, options, problem) => {
    await put('agents/a.md', `---\n${options}\n---\nprompt\n`);
    const started = performance.now();
    expect(await problems()).toContain(problem);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it('B26: a byte order mark and CRLF are fine; UTF-16 is refused as not UTF-8', async () => {
    await put('agents/a.md', '\uFEFF---\r\ndescription: d\r\nmaxTurns: 3\r\n---\r\nOne.\r\nTwo.\r\n');
    expect((await load()).config.agents?.['a']).toEqual({ description: 'd', maxTurns: 3, prompt: 'One.\nTwo.' });
    for (const [name, bytes] of Object.entries(utf16('---\ndescription: d\n---\nprompt\n'))) {
      await put('agents/a.md', bytes);
      expect([name, await problems()]).toEqual([name, expect.stringContaining('a.md: not UTF-8')]);
    }
  });

  it('B26: a file of 10 MiB is refused with its size', async () => {
    await put('agents/a.md', `---\ndescription: d\n---\n${'x'.repeat(10 * 1_024 * 1_024)}`);
    expect(await problems()).toContain(`a.md: the file has 10485783 bytes (limit: ${CONFIG_LIMITS.agentFileBytesMax})`);
  });

  it('B24: two agents of one name, in the config and in files, are told with both', async () => {
    await put('agents/a.md', '---\ndescription: d\n---\nprompt\n');
    await put('.claude/agents/b.md', '---\nname: a\ndescription: d\n---\nprompt\n');
    await putConfig(`{ import: ['.claude/agents'], agents: { a: { description: 'd', prompt: 'p' } } }`);
    const told = await problems();
    expect(told).toContain(`agents.a: also defined in ${join(folder.path, 'agents/a.md')}`);
    expect(told).toContain(`agents.a: defined in ${join(folder.path, 'agents/a.md')} and in ${join(folder.path, '.claude/agents/b.md')}`);
  });

  it('a template that is a function is refused: its braces would stay', async () => {
    await putConfig(`{ agents: { a: { description: 'd', prompt: () => '{{x}}', promptTemplate: true } } }`);
    expect(await problems()).toContain('agents.a.promptTemplate: not used with a prompt that is a function');
  });

  it('a skill that is missing is told with the right word', async () => {
    await put('agents/a.md', '---\ndescription: d\nskills: [repport]\n---\nprompt\n');
    await put('skills/report/SKILL.md', '---\ndescription: d\n---\n');
    expect(await problems()).toContain('agents.a.skills: no skill named "repport" (did you mean report?)');
  });
});

describe('import', () => {
  it('of AGENTS.md and CLAUDE.md are instructions for all agents; those of the config go first', async () => {
    await put('AGENTS.md', '\uFEFFUse tabs.\n');
    await put('docs/CLAUDE.md', 'Use spaces.');
    await putConfig(`{ import: ['AGENTS.md', './docs/CLAUDE.md'], instructions: { 'CLAUDE.md': 'Neither.' } }`);
    const loaded = await load();
    expect(loaded.config.instructions).toEqual({ 'AGENTS.md': 'Use tabs.\n', 'CLAUDE.md': 'Neither.' });
    const real = await realpath(folder.path);
    expect(loaded.protected).toEqual(expect.arrayContaining([join(real, 'AGENTS.md'), join(real, 'docs/CLAUDE.md')]));
  });

  it.each(['.claude/agents', '.claude/agents/*.md'])('of %s are agents, with tools and models under our names', async (entry) => {
    await put(
      '.claude/agents/review.md',
      '---\nname: code-reviewer\ndescription: Reviews.\ntools: Read, Grep, Bash, WebFetch, Bash(git diff:*)\nmodel: sonnet\ncolor: red\n---\n\nLook twice.\n',
    );
    await put('.claude/agents/plain.md', '---\nname: plain\ndescription: Plain.\nmodel: inherit\ntools: [Edit, add]\n---\nDo it.\n');
    await put('.claude/agents/README.md', '# No agent\n');
    await putConfig(`{ import: ['${entry}'], tools: [${ADD}] }`);
    const { config: loaded, notices, agentFiles, protected: paths } = await load();
    expect(loaded.agents).toEqual({
      'code-reviewer': {
        description: 'Reviews.',
        prompt: 'Look twice.',
        tools: ['read_file', 'search_files', 'run_command'],
        model: 'anthropic/claude-sonnet-5',
      },
      plain: { description: 'Plain.', prompt: 'Do it.', tools: ['edit_file', 'add'] },
    });
    const file = join(folder.path, '.claude/agents/review.md');
    expect(notices).toEqual([
      `${file}: no tool for WebFetch; it is left out`,
      `${file}: no tool for Bash(git diff:*); it is left out`,
      `${file}: the option color is not used`,
    ]);
    expect(agentFiles).toEqual({ 'code-reviewer': file, plain: join(folder.path, '.claude/agents/plain.md') });
    expect(paths).toContain(join(await realpath(folder.path), '.claude/agents/*.md'));
  });

  it('an imported agent whose tools are all unknown is refused: an empty list would offer every tool', async () => {
    await put('.claude/agents/a.md', '---\nname: a\ndescription: d\ntools: WebFetch, WebSearch\n---\nprompt\n');
    await putConfig(`{ import: ['.claude/agents'] }`);
    expect(await problems()).toContain('.claude/agents/a.md:4: tools: none of them is known: WebFetch, WebSearch');
  });

  it('what is missing, too large or no text is told with its place', async () => {
    await put('big.md', 'x'.repeat(10 * 1_024 * 1_024));
    await put('other.md', utf16('hello')['little endian'] ?? '');
    await putConfig(`{ import: ['AGENTS.md', 'big.md', 'other.md', 'none/agents'] }`);
    const told = await problems();
    for (const part of [
      'import.0: AGENTS.md: no such file',
      'import.1: big.md: the file has 10485760 bytes',
      'import.2: other.md: not UTF-8',
      'import.3: none/agents has no agents',
    ])
      expect(told).toContain(part);
    await putConfig(`{ import: 'AGENTS.md' }`);
    expect(await problems()).toContain('import: ');
  });

  it('B19: a cycle is one line with its file: of links to files and folders, and of modules that the config imports', async () => {
    await symlink('two.md', join(folder.path, 'one.md'));
    await symlink('one.md', join(folder.path, 'two.md'));
    await symlink('round', join(folder.path, 'round'));
    await mkdir(join(folder.path, 'agents'));
    await symlink('self.md', join(folder.path, 'agents/self.md'));
    await symlink('gone.md', join(folder.path, 'agents/lost.md'));
    await putConfig(`{ import: ['one.md', 'round', 'two.md'] }`);
    const told = await problems();
    for (const part of ['import.0: one.md: not a file', 'import.1: round has no agents', 'import.2: two.md: not a file'])
      expect(told).toContain(part);
    await put('perdure.config.ts', `import { tools } from './tools.ts';\nexport const NAME = 'x';\nexport default { tools };\n`);
    await put('tools.ts', `import { NAME } from './perdure.config.ts';\nexport const tools = [NAME.length];\n`);
    await expect(load()).rejects.toMatchObject({ code: 'CONFIG', message: expect.stringMatching(/^[^\n]*perdure\.config\.ts: [^\n]+$/u) });
  });

  it('an entry that is there twice is read once', async () => {
    await put('AGENTS.md', 'Use tabs.');
    await putConfig(`{ import: ['AGENTS.md', './AGENTS.md'] }`);
    expect((await load()).config.instructions).toEqual({ 'AGENTS.md': 'Use tabs.' });
  });

  it('a changed file changes the hash of the config', async () => {
    await put('AGENTS.md', 'one');
    await putConfig(`{ import: ['AGENTS.md'] }`);
    const { hash } = await load();
    await put('AGENTS.md', 'two');
    expect((await load()).hash).not.toBe(hash);
  });
});

const ADD = `defineTool({ name: 'add', description: 'd', parameters: z.strictObject({}), effect: 'read', execute: () => 1 })`;

async function put(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(join(folder.path, path)), { recursive: true });
  await writeFile(join(folder.path, path), content);
}

async function putConfig(text: string): Promise<void> {
  await put('perdure.config.ts', `import { defineTool } from 'perdure';\nimport { z } from 'zod';\nexport default ${text};\n`);
}

function load(): Promise<LoadedConfig> {
  return loadConfig({ cwd: folder.path, env: { XDG_CACHE_HOME: join(folder.path, 'cache') } });
}

async function problems(): Promise<string> {
  return await load().then(
    () => '',
    (error: Error) => error.message,
  );
}

function utf16(text: string): Record<string, Buffer> {
  const little = Buffer.from(text, 'utf16le');
  return {
    'little endian': Buffer.concat([Buffer.from([0xff, 0xfe]), little]),
    'big endian': Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(little).swap16()]),
    'without a mark': little,
  };
}

function bomb(): string {
  const lines = Array.from({ length: 9 }, (_, at) => {
    const [above, name] = [String.fromCharCode(97 + at), String.fromCharCode(98 + at)];
    return `${name}: &${name} [${Array.from({ length: 9 }, () => `*${above}`).join(',')}]`;
  });
  return ['a: &a [x]', ...lines].join('\n');
}
