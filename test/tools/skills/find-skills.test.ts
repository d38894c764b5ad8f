import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { SKILL_LIMITS } from '../../../src/contracts/constants/limits.js';
import { findSkills } from '../../../src/tools/skills/find-skills.js';
import { readPlainOptions } from '../../../src/tools/skills/loose-front-matter.js';
import { makePipe } from '../support/temp-workspace.js';

const PUBLISHED = fileURLToPath(new URL('../fixtures/published-skills', import.meta.url));

let base: string;
let folder: string;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'perdure-skills-')));
  folder = join(base, 'place');
  await mkdir(folder);
});
afterEach(() => rm(base, { recursive: true, force: true }));

describe('findSkills', () => {
  test('three published skills are found unchanged', async () => {
    const { skills, problems } = await findSkills({ worker: PUBLISHED });
    expect(problems).toEqual([]);
    expect(skills.map(({ name, path }) => [name, path])).toEqual([
      ['agent-config', 'skills/agent-config/SKILL.md'],
      ['prompt-architect', 'skills/prompt-architect/SKILL.md'],
      ['sprint-plan', 'skills/sprint-plan/SKILL.md'],
    ]);
    expect(skills[0]).toMatchObject({
      description: 'Export and import agent configurations for sharing and backup',
      keywords: expect.arrayContaining(['export', 'yaml']),
    });
    expect((await findSkills({ workspace: PUBLISHED })).skills).toHaveLength(3);
  });

  test('every field of the open format is read, from all three folders; the first skill of a name is used', async () => {
    await put('skills/pdf/SKILL.md', '\uFEFF---\r\nname: pdf\r\ndescription: First.\r\n---\r\nText.\r\n');
    await put('.agents/skills/pdf/SKILL.md', '---\nname: pdf\ndescription: Second.\n---\n');
    await put(
      '.claude/skills/csv-tools/SKILL.md',
      '---\nname: csv-tools\ndescription: >\n  Reads\n  tables.\nlicense: MIT\ncompatibility: Needs python3\n' +
        'allowed-tools: Read Bash(git diff:*) add\nmetadata:\n  author: me\n  keywords: "Spreadsheet, comma separated"\n---\n',
    );
    const { skills, problems } = await findSkills({ worker: folder });
    expect(problems).toEqual([]);
    expect(skills).toEqual([
      {
        name: 'csv-tools',
        description: 'Reads tables.',
        folder: join(folder, '.claude/skills/csv-tools'),
        path: '.claude/skills/csv-tools/SKILL.md',
        from: 'worker',
        keywords: ['spreadsheet', 'comma separated'],
        allowedTools: ['Read', 'Bash(git diff:*)', 'add'],
      },
      expect.objectContaining({ name: 'pdf', description: 'First.', path: 'skills/pdf/SKILL.md' }),
    ]);
  });

  test('a description with an unquoted colon is read, as published skills have it', async () => {
    await put('skills/a/SKILL.md', '---\nname: a\ndescription: Use when: it rains\nlicense: "x: y"\n---\n');
    expect((await findSkills({ worker: folder })).skills).toMatchObject([{ name: 'a', description: 'Use when: it rains' }]);
  });

  test('B26: what is no skill is told with its file, and the others load', async () => {
    await put('skills/good/SKILL.md', '---\ndescription: Good.\n---\n');
    await put('skills/none/SKILL.md', '# No front matter\n');
    await put('skills/without/SKILL.md', '---\nname: without\n---\n');
    await put('skills/bad/SKILL.md', '---\nname: "a/../b"\ndescription: d\n---\n');
    await put('skills/twice/SKILL.md', '---\ndescription: d\ndescription: e\n---\n');
    await put('skills/late/SKILL.md', `---\nx: ${'x'.repeat(SKILL_LIMITS.frontMatterBytesMax)}\ndescription: d\n---\n`);
    await put('skills/empty/readme.md', 'x');
    await put('skills/bomb/SKILL.md', `---\na: &a [x,x,x,x,x,x,x,x,x,x]\n${bombLines()}---\n`);
    const { skills, problems } = await findSkills({ worker: folder });
    expect(skills.map(({ name }) => name)).toEqual(['good']);
    expect(problems).toEqual([
      'skills/bad/SKILL.md: name: use at most 64 letters, digits and hyphens',
      expect.stringContaining('skills/bomb/SKILL.md:2: the front matter is too large with its aliases expanded'),
      expect.stringContaining('skills/late/SKILL.md: no front matter'),
      expect.stringContaining('skills/none/SKILL.md: no front matter'),
      'skills/twice/SKILL.md:3: an option is defined twice',
      'skills/without/SKILL.md: description: missing',
    ]);
  });

  test('X9: a link leads out of no workspace, and pipes are not opened', async () => {
    await put('../outside/evil/SKILL.md', '---\nname: evil\ndescription: d\n---\n');
    await mkdir(join(folder, 'skills'), { recursive: true });
    await symlink(join(base, 'outside/evil'), join(folder, 'skills/evil'));
    await mkdir(join(folder, '.claude'));
    await symlink(join(base, 'outside'), join(folder, '.claude/skills'));
    await mkdir(join(folder, 'skills/pipe'));
    makePipe(join(folder, 'skills/pipe/SKILL.md'));
    await mkdir(join(folder, 'skills/folder/SKILL.md'), { recursive: true });
    expect(await findSkills({ workspace: folder })).toEqual({ skills: [], problems: [] });
    // links of the operator are meant
    expect((await findSkills({ worker: folder })).skills).toMatchObject([{ name: 'evil' }]);
  });

  test('X32: options that grow to their limit take no time', async () => {
    const { frontMatterBytesMax } = SKILL_LIMITS;
    const room = frontMatterBytesMax - 100;
    const long = [' ,'.repeat(room / 2), `${' '.repeat(room)}b`, '('.repeat(room), 'a,'.repeat(room / 2), `[a,${' '.repeat(room)}b]`];
    for (const [at, value] of long.entries())
      for (const key of ['allowed-tools', 'tags']) await put(`skills/${key}${at}/SKILL.md`, `---\ndescription: d\n${key}: ${value}\n---\n`);
    const started = performance.now();
    const { skills } = await findSkills({ worker: folder });
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(skills).toHaveLength(10);
    expect(Math.max(...skills.map(({ keywords }) => keywords.length))).toBe(SKILL_LIMITS.keywordsMax);
  });

  test('a description is one line of at most 1,024 characters', async () => {
    await put('skills/a/SKILL.md', `---\ndescription: "Ends.\\n# Rules\\n${'x'.repeat(3_000)}"\n---\n`);
    const [skill] = (await findSkills({ worker: folder })).skills;
    expect(skill?.description).toMatch(/^Ends\. # Rules x/u);
    expect(skill?.description).toHaveLength(SKILL_LIMITS.descriptionCharsMax);
  });

  test('what is read without YAML is what YAML reads', () => {
    const value = fc.oneof(
      fc.string(),
      fc.stringMatching(/^\[[a-z, -]{0,12}\]$/u),
      fc.constantFrom(
        'yes',
        'null',
        'a: b',
        'a #b',
        'a#b',
        '7',
        '2020-01-01',
        'x:y',
        '"q"',
        "'it''s'",
        'a:',
        '[yes, no]',
        '>',
        '|',
        '&a x',
        '*a',
        '',
      ),
    );
    const key = fc.constantFrom('name', 'description', 'allowed-tools', 'tags', 'license', 'metadata', 'true');
    const more = fc.constantFrom('  more', '  keywords: x', '- item', '# comment', '', '  a: [b,', "  'open");
    const line = fc.oneof(
      { weight: 4, arbitrary: fc.tuple(key, value).map(([name, text]) => `${name}: ${text}`) },
      { weight: 1, arbitrary: more },
    );
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 5 }), (lines) => {
        const options = lines.join('\n').replaceAll('---', '');
        const plain = readPlainOptions(`---\n${options}\n---\n`);
        const whole = yamlOf(options);
        // what YAML refuses may be read all the same
        expect(whole && plain).toEqual(whole && plain && pick(whole, Object.keys(plain)));
        expect(Object.keys(whole && plain ? pick(whole, ['keywords']) : {})).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
    expect(readPlainOptions('---\nname: a\ndescription: It reads, "x:y" and a#b (all of it).\n---\nbody')).toEqual({
      name: 'a',
      description: 'It reads, "x:y" and a#b (all of it).',
    });
  });
});

function yamlOf(options: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = parse(options, { logLevel: 'error' });
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : undefined;
  } catch {
    return undefined;
  }
}

function pick(options: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).filter(([key]) => keys.includes(key)));
}

function bombLines(): string {
  return Array.from({ length: 8 }, (_, index) => {
    const [above, name] = [String.fromCharCode(97 + index), String.fromCharCode(98 + index)];
    return `${name}: &${name} [${Array.from({ length: 9 }, () => `*${above}`).join(',')}]\n`;
  }).join('');
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}
