import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { matchSkills } from '../../../src/activities/prepare/match-skills.js';
import { createPrepareRun } from '../../../src/activities/prepare/prepare-run.js';
import { SKILL_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { PreparedRun } from '../../../src/contracts/schemas/prepared-run.js';
import type { RunInput } from '../../../src/contracts/schemas/run.js';
import type { AgentDefinition } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { createReadSkill } from '../../../src/tools/read-skill.js';
import { WORKSPACE_TOOLS } from '../../../src/tools/registry.js';
import { useTempFolder } from '../../support/temp-folder.js';

const PUBLISHED = fileURLToPath(new URL('../../tools/fixtures/published-skills', import.meta.url));

const add = defineTool({
  name: 'add',
  description: 'Adds.',
  parameters: z.strictObject({ a: z.number() }),
  effect: 'read',
  execute: ({ a }) => a,
});

const folder = useTempFolder('perdure-skilled-');

describe('skills of a run', () => {
  it('C-34: are a list of names, descriptions and paths, with a tool that reads them; without skills there is no section', async () => {
    const { setup } = await prepare({ skills: 'all' }, { worker: PUBLISHED });
    expect(setup.prompt).toMatch(
      /^Do it\.\n\n# Skills\n\n.*read_skill.*\n\n- agent-config: Export and import .* \(skills\/agent-config\/SKILL\.md\)\n/u,
    );
    expect(setup.prompt).not.toContain('# Agent Configuration');
    expect(setup.tools.map(({ name }) => name)).toEqual(['add', 'read_skill']);
    const withoutSkills: Partial<AgentDefinition>[] = [{}, { skills: [] }, { blockedTools: ['read_skill'], skills: 'all' }];
    for (const agent of withoutSkills) {
      const without = (await prepare(agent, { worker: PUBLISHED })).setup;
      expect([without.prompt, without.tools.map(({ name }) => name)]).toEqual(['Do it.', ['add']]);
    }
  });

  it('are those that the agent names; one that is missing is a notice with the right word', async () => {
    const { setup, notices } = await prepare({ skills: ['agent-config', 'sprint-plna'] }, { worker: PUBLISHED });
    expect(setup.prompt).not.toContain('- sprint-plan');
    expect(notices).toEqual(['no skill named "sprint-plna" (did you mean sprint-plan?)']);
  });

  it('of a workspace are used only where the agent allows it, and are read on the host of the workspace', async () => {
    await put('.claude/skills/local/SKILL.md', '---\nname: local\ndescription: Local.\n---\nText.');
    const input = { context: { workspace: folder.path } };
    expect((await prepare({ skills: 'all' }, { worker: PUBLISHED, input })).setup.prompt).not.toContain('- local');
    const { setup } = await prepare({ workspaceSkills: true }, { worker: PUBLISHED, input });
    expect(setup.prompt).toContain('- local: Local. (.claude/skills/local/SKILL.md)');
    expect(setup.prompt).not.toContain('- agent-config');
    expect(setup.tools.find(({ name }) => name === 'read_skill')).toMatchObject({ workspace: true, effect: 'read' });
  });

  it('A-10: a skill that matches the task adds its tools to the list of the agent, except blocked ones', async () => {
    await put('skills/sums/SKILL.md', '---\nname: sums\ndescription: Sums.\nallowed-tools: add Read WebFetch\n---\n');
    const agent = { skills: 'all', tools: ['list_files'] } as const;
    const offered = async (task: string, given: Partial<AgentDefinition> = {}): Promise<readonly string[]> => {
      const workspace = join(folder.path, 'work');
      await mkdir(workspace, { recursive: true });
      const input = { task, context: { workspace } };
      const { setup } = await prepare({ ...agent, tools: [...agent.tools], ...given }, { worker: folder.path, input });
      return setup.tools.map(({ name }) => name);
    };
    expect(await offered('Write a letter')).toEqual(['list_files', 'read_skill']);
    expect(await offered('Do the sums')).toEqual(['add', 'read_file', 'list_files', 'read_skill']);
    expect(await offered('Do the sums', { blockedTools: ['add'] })).toEqual(['read_file', 'list_files', 'read_skill']);
  });

  it('A-10: a skill that names a missing tool is a notice, and the run starts', async () => {
    await put('skills/sums/SKILL.md', '---\nname: sums\ndescription: Sums.\nallowed-tools: add WebFetch Bash(git *)\n---\n');
    const { notices } = await prepare({ skills: 'all' }, { worker: folder.path, input: { task: 'sums' } });
    expect(notices).toEqual(['skill sums: no tool named "WebFetch", "Bash(git *)"; they are not added']);
  });

  it('X11: files of a workspace add no tool, also where the workspace is the folder of the worker', async () => {
    await put('skills/sums/SKILL.md', '---\nname: sums\ndescription: Sums.\nallowed-tools: add\n---\n');
    const input = { task: 'sums', context: { workspace: folder.path } };
    const agent = { workspaceSkills: true, skills: 'all', tools: ['read_file'] } satisfies Partial<AgentDefinition>;
    for (const worker of [undefined, folder.path]) {
      const { setup } = await prepare(agent, { ...(worker === undefined ? {} : { worker }), input });
      expect(setup.tools.map(({ name }) => name)).toEqual(['read_file', 'read_skill']);
    }
  });

  it('that match are expanded with the variables of the run; other braces stay', async () => {
    await put('skills/report/SKILL.md', '---\nname: report\ndescription: d\n---\n\nWrite for {{customer}}, keep {{ page }}.\n');
    const input = { task: 'the report', context: { variables: { customer: 'ACME' } } };
    const { setup } = await prepare({ skills: 'all', expandSkills: true }, { worker: folder.path, input });
    expect(setup.prompt).toContain('# Skill report\n\nWrite for ACME, keep {{ page }}.');
    expect(
      (await prepare({ skills: 'all', expandSkills: true }, { worker: folder.path, input: { task: 'a letter' } })).setup.prompt,
    ).not.toContain('# Skill report');
  });

  it('a text of 10 MiB is cut, and at most three are expanded', async () => {
    for (const name of ['a', 'b', 'c', 'd'])
      await put(`skills/${name}/SKILL.md`, `---\ndescription: d\nkeywords: [report]\n---\n${'x'.repeat(name === 'a' ? 10_485_760 : 10)}`);
    const { setup } = await prepare({ skills: 'all', expandSkills: true }, { worker: folder.path, input: { task: 'report' } });
    expect(setup.prompt.match(/# Skill \w/gu)).toEqual(['# Skill a', '# Skill b', '# Skill c']);
    expect(setup.prompt).toContain('[the skill is cut here; read the rest with read_skill]');
  });

  it('the list has at most 30,000 characters, and says how many are left out', async () => {
    for (let at = 0; at < 60; at += 1) await put(`skills/s${at}/SKILL.md`, `---\ndescription: ${'word '.repeat(200)}\n---\n`);
    const { setup } = await prepare({ skills: 'all' }, { worker: folder.path });
    expect(setup.prompt.length).toBeLessThan(SKILL_LIMITS.listCharsMax + 1_000);
    expect(setup.prompt).toMatch(/\[\d+ more skills are not listed\]$/u);
  });
});

const skill = (name: string, description: string, keywords: readonly string[] = []) => ({ name, description, keywords });

describe('matchSkills', () => {
  const SKILLS = [
    skill('pdf-forms', 'Fill in forms and extract tables from documents.', ['acrobat', 'fillable document']),
    skill('release-notes', 'Write the notes of a release from the commits since the last tag.'),
    skill('zip', 'Pack folders.'),
  ];
  it.each<[string, string[]]>([
    ['Fill the PDF forms', ['pdf-forms']],
    ['use pdf-form please', ['pdf-forms']],
    ['open it with ACROBAT', ['pdf-forms']],
    ['a fillable document', ['pdf-forms']],
    ['extract each table of these documents', ['pdf-forms']],
    ['extract the table', []],
    ['the notes for the new release', ['release-notes']],
    ['zip the release notes', ['release-notes', 'zip']],
    ['unzip this', []],
    ['', []],
    ['with from that this when', []],
  ])('A-10: %j matches %j', (task, names) => {
    expect(matchSkills(SKILLS, task).map(({ name }) => name)).toEqual(names);
    expect(matchSkills(SKILLS.toReversed(), task).map(({ name }) => name)).toEqual(names);
  });
});

interface Surroundings {
  readonly worker?: string;
  readonly input?: Partial<RunInput>;
}

function prepare(agent: Partial<AgentDefinition>, { worker, input = {} }: Surroundings): Promise<PreparedRun> {
  const config = { model: 'scripted/x', tools: [add], agents: { a: { description: 'd', prompt: 'Do it.', ...agent } } };
  const activity = createPrepareRun({
    config,
    configHash: 'h',
    keys: captureKeys({}),
    env: {},
    workspaceTools: WORKSPACE_TOOLS,
    readSkill: createReadSkill({ folder: worker, agents: config.agents }),
    ...(worker === undefined ? {} : { folder: worker }),
    searchAttributes: [],
  });
  return activity({ runId: 'r', input: { task: 'Hello', agent: 'a', ...input } });
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder.path, path)), { recursive: true });
  await writeFile(join(folder.path, path), text);
}
