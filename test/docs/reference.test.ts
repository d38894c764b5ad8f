import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { EXIT_CODE_BY_REASON } from '../../src/cli/display/result.js';
import { GateProfile } from '../../src/contracts/schemas/policy.js';
import { Reason, SteerState } from '../../src/contracts/schemas/run.js';
import { Effect } from '../../src/contracts/schemas/tool.js';
import { HookPoint } from '../../src/define/define-hook.js';
import { ProviderDefinition } from '../../src/define/provider-definition.js';
import { ROUTES } from '../../src/gateway/http/routes/routes.js';
import { openApiOf } from '../../src/gateway/http/routing/openapi.js';
import { DocComments } from './support/doc-comments.js';
import { filledPage, partNames } from './support/markdown.js';
import { generatedPage, PAGES, PART_NAMES, REFERENCE, readPage } from './support/reference-pages.js';

const NAMES = Object.keys(PAGES);

/** A longer page is two pages. */
const LINES_MAX = 250;

describe('docs/reference', () => {
  // the generated parts are written by: npx vitest run --project perdure test/docs -u
  it.each(NAMES)('%s has the tables that the sources give', async (page) => {
    await expect(await generatedPage(page)).toMatchFileSnapshot(`${REFERENCE}${page}`);
  });

  it('openapi.json is what the gateway serves', async () => {
    const document = `${JSON.stringify(openApiOf(ROUTES, 'v1'), undefined, 2)}\n`;
    await expect(document).toMatchFileSnapshot(`${REFERENCE}openapi.json`);
  });

  it('shows each generated part once', async () => {
    const shown = (await Promise.all(NAMES.map(readPage))).flatMap(partNames);
    expect(shown.toSorted()).toEqual([...PART_NAMES].toSorted());
  });

  it('has no page without a test, and its index leads to each', async () => {
    const index = await readPage('README.md');
    expect((await readdir(REFERENCE)).toSorted()).toEqual(['README.md', 'openapi.json', ...NAMES].toSorted());
    expect(NAMES.filter((page) => !index.includes(`](${page})`))).toEqual([]);
  });

  it.each(NAMES)('%s begins with its purpose in two lines, and is not too long', async (page) => {
    const lines = (await readPage(page)).trimEnd().split('\n');
    expect(lines.slice(0, 5)).toEqual([
      expect.stringMatching(/^# /u),
      '',
      expect.stringMatching(/\.$/u),
      expect.stringMatching(/\.$/u),
      '',
    ]);
    expect(lines.length).toBeLessThanOrEqual(LINES_MAX);
  });

  it.each([...NAMES, 'README.md'])('%s links to pages and headings that exist', async (page) => {
    const links = [...(await readPage(page)).matchAll(/\]\((?<file>[\w./-]*)(?:#(?<heading>[\w-]+))?\)/gu)].map(
      ({ groups }) => groups ?? {},
    );
    const lost = await Promise.all(
      links.map(async ({ file = '', heading }) => ((await leads(file || page, heading)) ? [] : [`${file}#${heading}`])),
    );
    expect(lost.flat()).toEqual([]);
  });
});

describe('the generator', () => {
  it('refuses a field without a doc comment, and a declaration that does not exist', () => {
    const docs = new DocComments('contracts/schemas/run.ts');
    expect(docs.ofField(['RunBounds', 'RunInput'], 'task')).toEqual({ text: 'The task: text, or a list of parts.' });
    expect(() => docs.ofField(['RunInput'], 'tasks')).toThrow('RunInput.tasks in src/contracts/schemas/run.ts has no doc comment');
    expect(() => docs.ofField(['RunInputs'], 'task')).toThrow('src/contracts/schemas/run.ts has no declaration RunInputs');
  });

  it('keeps a type with brackets inside it whole', async () => {
    expect(new DocComments('contracts/event.ts').variantsOf('RunEventBody')[0]).toEqual([
      'run.started',
      ['agent: string', 'model: string', 'maxTurns: number', 'parent?: { runId: string; callId: string }'],
    ]);
    expect(await generatedPage('queries.md')).toContain('| `events` | `{ after: number; types?: string[] }` | `EventPage` |');
  });

  it('refuses a mark of an unknown part, and one without an end', () => {
    expect(() => filledPage('<!-- generated:x -->\n', {})).toThrow('there is no generated part "x"');
    expect(() => filledPage('<!-- generated:x -->\n', { x: () => '' })).toThrow('the part "x" has no end mark');
    expect(filledPage('<!-- generated:x -->\nold\n<!-- /generated:x -->\n', { x: () => 'new' })).toContain('\n\nnew\n\n');
  });
});

describe('tables of docs/reference that people write', () => {
  it.each([
    ['run.md', 'Reasons', Reason.options],
    ['run.md', 'States of a message', SteerState.options],
    ['tool.md', 'Effects', Effect.options],
    ['hooks.md', 'Hook points', HookPoint.options],
    ['agent.md', 'Gate profiles', GateProfile.options],
  ])('%s, %s: a row for each value, and no other', async (page, heading, values) => {
    const [table = []] = tablesUnder(await readPage(page), heading);
    expect(table.map(([first = '']) => /`(?<name>[^`]+)`/u.exec(first)?.groups?.['name'])).toEqual(values);
  });

  it('providers.md has a heading for each kind of provider', async () => {
    const apis = ProviderDefinition.options.flatMap(({ shape: { api } }) => ('options' in api ? api.options : [api.value]));
    const headings = [...(await readPage('providers.md')).matchAll(/^### (?<title>.+)$/gmu)].flatMap(({ groups }) =>
      groups?.['title']?.split(', '),
    );
    expect(headings).toEqual(expect.arrayContaining(apis));
  });

  it('cli.md: the exit code of each reason is the one of its row', async () => {
    const [table = []] = tablesUnder(await readPage('cli.md'), 'Exit codes');
    const exits = new Map(table.map(([code = '', meaning = '']) => [Number(code), meaning]));
    const lost = Object.entries(EXIT_CODE_BY_REASON).filter(
      ([reason, code]) => !new RegExp(`\\b${reason}\\b`, 'u').test(exits.get(code) ?? ''),
    );
    expect(lost).toEqual([]);
  });
});

/** The tables under a heading up to the next one, as cells without head and line. */
function tablesUnder(page: string, heading: string): string[][][] {
  const section = page.split(/^#+ /mu).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const blocks = section.split(/\n\n/u).filter((block) => block.startsWith('|'));
  return blocks.map((block) =>
    block
      .trim()
      .split('\n')
      .slice(2)
      .map((line) => line.split(/(?<!\\)\|/u).slice(1, -1)),
  );
}

async function leads(file: string, heading: string | undefined): Promise<boolean> {
  const path = fileURLToPath(new URL(file, new URL('../../docs/reference/', import.meta.url)));
  if (heading === undefined || !existsSync(path)) return existsSync(path);
  return headingsOf(await readFile(path, 'utf8')).includes(heading);
}

/** As web pages name them. */
function headingsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (?<title>.+)$/gmu)].map(({ groups }) => {
    return (groups?.['title'] ?? '')
      .toLowerCase()
      .replaceAll(/[^\w -]/gu, '')
      .replaceAll(' ', '-');
  });
}
