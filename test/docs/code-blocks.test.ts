import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { Interrupts } from '../../src/cli/host/interrupts.js';
import { createProgram } from '../../src/cli/program.js';
import { AGENT_RUN, DEFAULT_TASK_QUEUE, HANDLER_DESCRIPTIONS } from '../../src/contracts/handlers.js';
import { RunInput } from '../../src/contracts/schemas/run.js';
import { parseScript } from '../../src/providers/scripted/script-file.js';
import { type CodeBlock, codeBlocks, pageText, ROOT, writtenPages } from './support/pages.js';
import { shellCommands } from './support/shell-commands.js';

const PAGES = writtenPages().flatMap(codeBlocks);

/** Parts of files that are run and compiled where they are: the info of a block names its file. */
const PARTS = PAGES.filter(({ info }) => info.startsWith('examples/'));
const BLOCKS = PAGES.filter((block) => !PARTS.includes(block));

/** Programs beside the command line that a page may name. */
const PROGRAMS: ReadonlySet<string> = new Set([
  'cd',
  'cp',
  'curl',
  'docker',
  'export',
  'grep',
  'kill',
  'mkdir',
  'node',
  'npm',
  'npx',
  'python3',
  'sed',
  'sleep',
  'temporal',
  '.ci/run',
  '.venv/bin/pip',
  '.venv/bin/python',
]);

/** Languages that a test below checks, and `text` for what commands print. */
const LANGUAGES: ReadonlySet<string> = new Set(['js', 'json', 'python', 'sh', 'text', 'ts', 'yaml']);

/** What a block that shows a part begins with and ends with: its info names the part. */
const AROUND: Readonly<Record<string, readonly [before: string, after: string]>> = {
  agent: [`import type { AgentDefinition } from 'perdure';\nexport const part: Partial<AgentDefinition> = {\n`, '};\n'],
  config: [`import type { Config } from 'perdure';\nexport const part: Config = {\n`, '};\n'],
  run: [
    `import type { AgentClient, RunHandle } from 'perdure/client';\ndeclare const client: AgentClient;\ndeclare const run: RunHandle;\n`,
    'export { client, run };\n',
  ],
};

/** The info of a block with the settings of an editor. */
const EDITOR = 'editor';

const EditorSettings = z.strictObject({
  agent_servers: z.record(
    z.string(),
    z.strictObject({ command: z.string(), args: z.array(z.string()), env: z.record(z.string(), z.string()) }),
  ),
});

describe('blocks of code', () => {
  it('are there, in languages that a test checks', () => {
    expect(BLOCKS.length).toBeGreaterThan(60);
    expect(BLOCKS.filter(({ language }) => !LANGUAGES.has(language)).map(placeOf)).toEqual([]);
  });

  it('that name a file of an example are lines of it', () => {
    expect(PARTS.length).toBeGreaterThan(10);
    expect(PARTS.filter(({ info, code }) => !`\n${pageText(info)}`.includes(`\n${code}`)).map(placeOf)).toEqual([]);
  });

  describe('TypeScript', () => {
    // one program for all: the compiler takes long to start
    let problems: readonly string[];
    beforeAll(async () => {
      const planted = [
        ['planted-field.ts', moduleOf({ info: 'agent', code: 'maxTurn: 3,\n' })],
        ['planted-argument.ts', moduleOf({ info: 'run', code: 'await run.steer(7);\n' })],
      ] as const;
      problems = await compile([...of('ts').map((block) => [`${fileName(block)}.ts`, moduleOf(block)] as const), ...planted]);
    });

    it('each is accepted by the compiler', () => {
      expect(of('ts').length).toBeGreaterThan(30);
      expect(problems.filter((line) => !line.startsWith('planted-'))).toEqual([]);
    });

    it('the check sees a wrong field, and a wrong argument', () => {
      const planted = problems.filter((line) => line.startsWith('planted-'));
      expect(planted.map((line) => line.split('(')[0])).toEqual(['planted-argument.ts', 'planted-field.ts']);
    });
  });

  it.each(of('js').map((block) => [placeOf(block), block] as const))('JavaScript: %s is accepted by Node', async (_place, block) => {
    const file = join(await scratchFolder(), 'block.mjs');
    await writeFile(file, block.code);
    await expect(promisify(execFile)(process.execPath, ['--check', file])).resolves.toBeDefined();
  });

  it.each(of('sh').map((block) => [placeOf(block), block] as const))(
    'shell: %s names verbs and options that there are',
    (_place, { code }) => {
      expect(shellCommands(code).flatMap(problemsOf)).toEqual([]);
    },
  );

  it('shell: the check sees a wrong verb, option and number of arguments', () => {
    const code = `perdure runs x\nX=1 perdure run 'a b' --modell x # why\nperdure steer RUN && until perdure ls --limit 3 2> file; do sleep 1; done\nperdur run x`;
    expect(shellCommands(code).flatMap(problemsOf)).toEqual([
      'no verb runs',
      'run has no option --modell',
      'run takes 1 to 1 arguments, not 2',
      'steer takes 2 to 2 arguments, not 1',
      'no program perdur',
    ]);
  });

  it('JSON: each is JSON, or a document on each line', () => {
    const events = of('json').filter(({ info }) => info !== EDITOR);
    expect(events.length).toBeGreaterThan(0);
    for (const { code } of events) {
      for (const line of code.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ type: expect.any(String) });
    }
  });

  it('JSON: the settings of an editor start a command that there is', () => {
    const settings = of('json').filter(({ info }) => info === EDITOR);
    expect(settings.length).toBeGreaterThan(0);
    for (const { code } of settings) {
      const servers = Object.values(EditorSettings.parse(JSON.parse(code)).agent_servers);
      expect(servers.map(({ command }) => command)).toEqual(['npx']);
      expect(servers.flatMap(({ args }) => problemsOf(args))).toEqual([]);
    }
  });

  it('YAML: each is a script that can be played', () => {
    const scripts = of('yaml').map((block) => parseScript(block.code, placeOf(block)));
    expect(scripts.length).toBeGreaterThan(2);
    expect(scripts.every(({ steps }) => steps.length > 1)).toBe(true);
  });

  it('Python: each starts the workflow by its name, with an input that the contract takes, and sends signals that there are', () => {
    expect(of('python').length).toBeGreaterThan(0);
    for (const { code } of of('python')) {
      const task = /^\s*task = (?<json>\{.*\})$/mu.exec(code)?.groups?.['json'] ?? '';
      expect(RunInput.parse(parse(task))).toMatchObject({ v: 1 });
      expect(code).toContain(`start_workflow("${AGENT_RUN}", task, id="ticket-7", task_queue="${DEFAULT_TASK_QUEUE}")`);
      const signals = [...code.matchAll(/\.signal\("(?<name>\w+)"/gu)].map(({ groups }) => groups?.['name'] ?? '');
      expect(signals.length).toBeGreaterThan(0);
      expect(signals.filter((name) => !Object.hasOwn(HANDLER_DESCRIPTIONS, name))).toEqual([]);
    }
  });
});

function of(language: string): CodeBlock[] {
  return BLOCKS.filter((block) => block.language === language);
}

function placeOf({ page, line }: CodeBlock): string {
  return `${page}:${line}`;
}

function fileName({ page, line }: CodeBlock): string {
  return `${page.replaceAll(/[^\w]+/gu, '-')}-line-${line}`;
}

function moduleOf({ info, code }: Pick<CodeBlock, 'info' | 'code'>): string {
  const [before = '', after = ''] = AROUND[info] ?? [];
  return `${before}${code}${after}`;
}

/** What the compiler says of these files against the sources of this repository, a line a problem. */
async function compile(files: readonly (readonly [name: string, text: string])[]): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'perdure-docs-'));
  const compilerOptions = {
    paths: { perdure: [join(ROOT, 'src/define/index.ts')], 'perdure/*': [join(ROOT, 'src/*/index.ts')] },
    noUnusedLocals: false,
  };
  const tsconfig = { extends: join(ROOT, 'tsconfig.json'), compilerOptions, include: ['*.ts'] };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await Promise.all(files.map(([name, text]) => writeFile(join(folder, name), text)));
  const { stdout } = await promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder, '--pretty', 'false'], {
    cwd: folder,
  }).catch((error: { stdout: string }) => error);
  await rm(folder, { recursive: true });
  return stdout
    .split('\n')
    .filter((line) => line.includes('error TS'))
    .toSorted();
}

async function scratchFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'perdure-docs-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** What is wrong with a command, as far as that can be told without running it. */
function problemsOf([program = '', ...words]: readonly string[]): string[] {
  if (/(?:^|\/)perdure$/u.test(program)) return problemsOfVerb(words);
  return PROGRAMS.has(program) ? [] : [`no program ${program}`];
}

function problemsOfVerb([verb = '', ...words]: readonly string[]): string[] {
  const program = createProgram({ output: process, interrupts: new Interrupts() }, () => undefined);
  const command = program.commands.find((one) => one.name() === verb);
  if (!command) return [`no verb ${verb}`];
  const [action, ...rest] = words;
  const inner = command.commands.find((one) => one.name() === action);
  return inner ? problemsOfCommand(inner, rest) : problemsOfCommand(command, words);
}

function problemsOfCommand(command: Command, words: readonly string[]): string[] {
  if (command.commands.length > 0) return [`no verb ${[command.name(), ...words.slice(0, 1)].join(' ')}`];
  const { problems, given } = readOptions(command, words);
  const least = command.registeredArguments.filter(({ required }) => required).length;
  const most = command.registeredArguments.some(({ variadic }) => variadic) ? Infinity : command.registeredArguments.length;
  return given < least || given > most ? [...problems, `${command.name()} takes ${least} to ${most} arguments, not ${given}`] : problems;
}

function readOptions(command: Command, words: readonly string[]): { readonly problems: string[]; readonly given: number } {
  const problems: string[] = [];
  let given = 0;
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (!word.startsWith('--')) given += 1;
    else {
      const option = command.options.find(({ long }) => long === word);
      if (!option) problems.push(`${command.name()} has no option ${word}`);
      if (option?.required) rest.shift();
    }
  }
  return { problems, given };
}
