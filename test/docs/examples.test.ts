import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AgentDefinition } from '../../src/define/define-agent.js';
import { parseScript } from '../../src/providers/scripted/script-file.js';
import { readAgentFiles } from '../../src/worker/config/agent-files.js';
import { commands } from './support/cli-parts.js';
import { PAGES, readPage } from './support/reference-pages.js';
import { typeCheck } from './support/type-check.js';

interface Example {
  readonly page: string;
  readonly language: string;
  readonly code: string;
}

const EXAMPLES: readonly Example[] = (await Promise.all(Object.keys(PAGES).map(examplesOf))).flat();

describe('examples of docs/reference', () => {
  it('are of kinds that a test runs or compiles', () => {
    expect([...new Set(EXAMPLES.map(({ language }) => language))].toSorted()).toEqual(['markdown', 'sh', 'ts', 'yaml']);
  });

  it('TypeScript compiles, and a mistake in it would be found', async () => {
    const modules = inLanguage('ts').map(({ page, code }, index) => [`${page.replace('.md', '')}-${index}`, code] as const);
    expect(modules.length).toBeGreaterThan(12);
    const mistake = "import { defineConfig } from 'perdure';\nexport default defineConfig({ model: 5 });";
    const messages = await typeCheck({ ...Object.fromEntries(modules), mistake });
    expect(messages).toEqual([expect.stringMatching(/mistake\.ts\(2,\d+\): error TS2322/u)]);
  });

  it('scripts play', () => {
    expect(inLanguage('yaml').map(({ code }) => parseScript(code, 'docs').steps.length)).toEqual([2, 3]);
  });

  it('command lines have verbs, arguments and options that exist', () => {
    const lines = inLanguage('sh').flatMap(({ code }) => code.trim().split('\n'));
    expect(lines.length).toBeGreaterThan(4);
    expect(lines.flatMap(problemsOf)).toEqual([]);
  });

  it('files of agents are valid', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'perdure-docs-'));
    await mkdir(join(folder, 'agents'));
    for (const [index, { code }] of inLanguage('markdown').entries()) await writeFile(join(folder, 'agents', `a${index}.md`), code);
    const files = await readAgentFiles(folder);
    await rm(folder, { recursive: true });
    expect(files.map(({ agent }) => AgentDefinition.safeParse(agent).error)).toEqual([undefined]);
  });
});

async function examplesOf(page: string): Promise<Example[]> {
  const blocks = [...(await readPage(page)).matchAll(/^```(?<language>\w*)\n(?<code>.*?)^```$/gmsu)];
  return blocks.map(({ groups = {} }) => ({ page, language: groups['language'] ?? '', code: groups['code'] ?? '' }));
}

function inLanguage(language: string): Example[] {
  return EXAMPLES.filter((example) => example.language === language);
}

/** The parts of a command line that the program does not define. */
function problemsOf(line: string): string[] {
  const [program, verb = '', ...words] = [...line.matchAll(/'[^']*'|\S+/gu)].map(([word]) => word);
  const command = commands().find((one) => one.name() === verb);
  if (program !== 'perdure' || !command) return [line];
  const options = words.filter((word) => word.startsWith('--'));
  const unknown = options.filter((option) => !command.options.some(({ long }) => long === option));
  const values = options.filter((option) => command.options.some(({ long, required }) => long === option && required)).length;
  const given = words.length - options.length - values;
  const required = command.registeredArguments.filter((argument) => argument.required).length;
  const isFitting = given >= required && given <= command.registeredArguments.length;
  return [...unknown.map((option) => `${line}: ${option}`), ...(isFitting ? [] : [`${line}: ${given} arguments`])];
}
