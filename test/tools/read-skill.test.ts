import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { AgentDefinition } from '../../src/define/define-agent.js';
import type { ToolContext } from '../../src/define/define-tool.js';
import { createReadSkill } from '../../src/tools/read-skill.js';
import { SECRET, type TempWorkspace, tempWorkspace, textOf } from './support/temp-workspace.js';

const PUBLISHED = fileURLToPath(new URL('./fixtures/published-skills', import.meta.url));

const agent = { description: 'd', prompt: 'p' };
const AGENTS: Record<string, AgentDefinition> = {
  all: { ...agent, skills: 'all' },
  one: { ...agent, skills: ['agent-config'] },
  none: agent,
  workspace: { ...agent, workspaceSkills: true },
};

describe('read_skill', () => {
  test('without a workspace, it reads a published skill and its files', async () => {
    const context = await contextOf('all', { isInWorkspace: false });
    const text = await read({ name: 'prompt-architect' }, context);
    expect(text).toContain('# Prompt Architect');
    expect(text).toMatch(/\[files of this skill: LICENSE, references\/rtf\.md; read one with read_skill and file\]$/u);
    expect(await read({ name: 'prompt-architect', file: 'references/rtf.md' }, context)).toMatch(/^# RTF Framework\n/u);
  });

  test('a long file comes in parts that fit the bounds', async () => {
    const workspace = await tempWorkspace();
    await workspace.put('skills/long/SKILL.md', `---\ndescription: d\n---\n${'line of text\n'.repeat(9_000)}`);
    const context: ToolContext = { ...workspace.context(), agent: 'workspace' };
    const first = await read({ name: 'long' }, context);
    const offset = Number(/read with offset (?<next>\d+)\]/u.exec(first)?.groups?.['next']);
    expect(offset).toBeGreaterThan(1_000);
    expect(await read({ name: 'long', offset }, context)).toMatch(/^line of text\n/u);
    expect(Buffer.byteLength(first)).toBeLessThanOrEqual(context.output.bytesMax);
  });

  test('an agent reads only its own skills, and the error names them', async () => {
    const context = await contextOf('one');
    expect(await read({ name: 'agent-config' }, context)).toContain('# Agent Configuration');
    await expect(read({ name: 'agent-konfig' }, context)).rejects.toThrow(
      'NO_SKILL: no skill named "agent-konfig" (did you mean agent-config?); available: agent-config',
    );
    await expect(read({ name: 'sprint-plan' }, context)).rejects.toThrow('NO_SKILL');
    await expect(read({ name: 'agent-config' }, await contextOf('none'))).rejects.toThrow('there are no skills');
  });

  test.each(['../agent-config/SKILL.md', '/etc/passwd', 'references/../../agent-config/SKILL.md', String.raw`..\x`])(
    'X9: %s is outside the folder of the skill',
    async (file) => {
      await expect(read({ name: 'prompt-architect', file }, await contextOf('all'))).rejects.toThrow('OUTSIDE_SKILL');
    },
  );

  test('X9: no link of a skill leads out, and the message names the folder of the skill', async () => {
    const workspace = await tempWorkspace();
    await workspace.put('skills/a/SKILL.md', '---\ndescription: d\n---\nText.');
    await symlink(join(workspace.outside, 'secret.txt'), join(workspace.root, 'skills/a/notes.md'));
    const context: ToolContext = { ...workspace.context(), agent: 'workspace' };
    const refusal = await read({ name: 'a', file: 'notes.md' }, context).catch((error: unknown) => String(error));
    expect(refusal).toContain('OUTSIDE_SKILL');
    expect(refusal).not.toContain(SECRET);
    await expect(read({ name: 'a', file: 'gone.md' }, context)).rejects.toThrow('NOT_FOUND: "skills/a/gone.md" does not exist');
  });

  test('a skill tells commands where its scripts are: in the workspace, or in the folder of the worker', async () => {
    const workspace = await tempWorkspace();
    await mkdir(join(workspace.root, '.claude/skills/a/scripts'), { recursive: true });
    await writeFile(join(workspace.root, '.claude/skills/a/SKILL.md'), '---\ndescription: d\n---\nRun scripts/go.sh.');
    await writeFile(join(workspace.root, '.claude/skills/a/scripts/go.sh'), 'echo hi');
    const own = await read({ name: 'a' }, { ...workspace.context(), agent: 'workspace' });
    expect(own).toMatch(
      /Run scripts\/go\.sh\.\n\[files of this skill: scripts\/go\.sh; .*\]\n\[folder of the skill, for run_command: \.claude\/skills\/a\]$/u,
    );
    const installed = await read({ name: 'prompt-architect' }, { ...workspace.context(), agent: 'all' });
    expect(installed).toContain(`[folder of the skill, for run_command: ${join(PUBLISHED, 'skills/prompt-architect')}]`);
  });
});

function read(args: { name: string; file?: string; offset?: number }, context: ToolContext): Promise<string> {
  return textOf(createReadSkill({ folder: PUBLISHED, agents: AGENTS }).execute(args, context));
}

async function contextOf(name: string, { isInWorkspace = true } = {}): Promise<ToolContext> {
  const workspace: TempWorkspace = await tempWorkspace();
  const { workspace: path, ...context } = workspace.context();
  return { ...context, agent: name, ...(isInWorkspace && path !== undefined ? { workspace: path } : {}) };
}
