import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createPrepareRun } from '../../../src/activities/prepare/prepare-run.js';
import { previewRun } from '../../../src/activities/prepare/preview-run.js';
import { PROMPT_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { RunInput } from '../../../src/contracts/schemas/run.js';
import type { AgentDefinition } from '../../../src/define/define-agent.js';
import type { Config } from '../../../src/define/define-config.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { WORKSPACE_TOOLS } from '../../../src/tools/registry.js';
import { useTempFolder } from '../../support/temp-folder.js';

const MIB = 1024 * 1024;

const folder = useTempFolder('perdure-prompt-');

describe('a prompt as a template', () => {
  const greeting = { prompt: 'Serve {{customer}} in {{ region.name }}. Write \\{{this}} as it is.', promptTemplate: true };

  it('has the values of the run, each written once: braces in a value are text', async () => {
    const context = { variables: { customer: '{{region.name}}', 'region.name': 'EMEA', note: 'urgent' } };
    expect(await promptOf(greeting, { context })).toBe('Serve {{region.name}} in EMEA. Write {{this}} as it is.\n\nnote: urgent');
  });

  it('with a missing variable is refused with the names that the run gives', async () => {
    await expect(promptOf(greeting, { context: { variables: { costumer: 'x' } } })).rejects.toMatchObject({
      type: 'Input.Invalid',
      nonRetryable: true,
      message:
        'PROMPT_VARIABLE: the prompt of agent "a" needs {{customer}} (did you mean costumer?), {{region.name}}; given: costumer. Set context.variables.',
    });
    await expect(promptOf(greeting)).rejects.toMatchObject({ message: expect.stringContaining('the run gives no variables') });
    await expect(promptOf({ prompt: '{{constructor}}', promptTemplate: true })).rejects.toMatchObject({ type: 'Input.Invalid' });
  });

  it('is only one that says that it is: braces of other prompts stay', async () => {
    const { prompt } = greeting;
    expect(await promptOf({ prompt }, { context: { variables: { customer: 'x' } } })).toBe(`${prompt}\n\ncustomer: x`);
  });
});

describe('a prompt as a function', () => {
  it('E-23: is called with the name of the agent and the context of the run', async () => {
    expect(await promptOf({ prompt: toldPrompt }, { context: { projectPath: 'shop', variables: { tone: 'dry' } } })).toBe(
      'a r shop dry\n\nProject: shop\n\ntone: dry',
    );
  });

  it('E-23: that returns no instructions leaves the prompt empty', async () => {
    expect(await promptOf({ prompt: () => '' })).toBe('');
  });

  it('that throws, or returns no text, fails the start by name; the worker tries again', async () => {
    await expect(promptOf({ prompt: brokenPrompt })).rejects.toMatchObject({
      type: 'Input.Invalid',
      nonRetryable: false,
      message: 'PROMPT_FUNCTION: the prompt of agent "a" threw: no such tenant',
    });
    await expect(promptOf({ prompt: (() => 7) as never })).rejects.toMatchObject({ message: expect.stringContaining('returned no text') });
  });
});

describe('sections of a prompt', () => {
  it('A-05: all of them stand in one order, and empty fields have no line', async () => {
    await writeFile(join(folder.path, 'AGENTS.md'), 'Use tabs.');
    const context = {
      workspace: folder.path,
      projectPath: 'shop',
      mode: 'ui',
      component: 'Cart',
      componentType: 'Panel',
      file: 'src/cart.tsx',
      selection: '<Cart />',
      channel: 'slack',
      timeZone: 'Asia/Tokyo',
      subAgentContext: 'Only the cart.',
      variables: { ticket: '7' },
    } satisfies RunInput['context'];
    const messages: RunInput['messages'] = [{ role: 'system', parts: [{ type: 'text', text: 'Given text.' }] }];
    const outputSchema = { type: 'object' };
    const { sections, prepared } = await preview({ promptMode: 'full', rules: ['Be brief.'] }, { context, messages, outputSchema });
    expect(sections.map(({ name }) => name)).toEqual([
      'identity',
      'agent',
      'given',
      'instructions',
      'project',
      'mode',
      'workspace',
      'variables',
      'runtime',
      'files',
      'rules',
      'sub-agent',
      'answer',
    ]);
    const { prompt, given } = prepared.setup;
    expect(prompt).toBe(sections.map(({ text }) => text).join('\n\n'));
    expect(prompt.slice(given?.from, given?.to)).toBe('Given text.');
    expect(sections.every(({ text }) => text.trim() !== '')).toBe(true);
    expect(sections[0]?.text).toBe('You are the agent a. A test agent.');
  });

  it('A-05: an agent that sets nothing new has the prompt of earlier versions, byte for byte', async () => {
    await writeFile(join(folder.path, 'AGENTS.md'), 'Use tabs.\n');
    await writeFile(join(folder.path, 'SOUL.md'), 'Not read.\n');
    const context = { workspace: folder.path, projectPath: 'shop', mode: 'code', variables: { a: '1', empty: '', b: '{{2}}' } } as const;
    const messages: RunInput['messages'] = [{ role: 'system', parts: [{ type: 'text', text: 'Given text.' }] }];
    expect(await promptOf({}, { context, messages, outputSchema: { type: 'object' } })).toBe(
      [
        'Do it.',
        'Given text.',
        'Project: shop',
        'You work on code: read before you edit, change as little as needed, and check what you changed.',
        'You have a workspace folder. Paths of the workspace tools are relative to it; nothing outside it can be reached.',
        'a: 1\nb: {{2}}',
        '# Instructions from AGENTS.md\n\nUse tabs.',
        '# Form of the answer\n\nYour last answer must be one JSON value that fits this JSON Schema, and no other text:\n\n{"type":"object"}',
      ].join('\n\n'),
    );
  });

  it('A-09: mode ui has the component with its type, the file and the selection', async () => {
    const context = { mode: 'ui', component: 'Cart', componentType: 'Panel', file: 'src/cart.tsx', selection: '<Cart />' } as const;
    expect(await promptOf({}, { context })).toBe(
      'Do it.\n\nYou work on a user interface. Component: Cart (Panel)\nFile: src/cart.tsx\nSelection:\n\n<Cart />',
    );
  });

  it('C-33: mode minimal has neither identity nor skills, and the context of the caller', async () => {
    const prompt = await promptOf({ promptMode: 'minimal', skills: 'all' }, { context: { subAgentContext: 'Only the cart.' } });
    expect(prompt).toMatch(/^Do it\.\n\nDate: /u);
    expect(prompt).toContain('# Context from the calling agent\n\nOnly the cart.');
    expect(prompt).not.toContain('You are the agent');
    expect(prompt).not.toContain('# Skills');
  });

  it('C-33, A-07: mode none is one identity line, and what the input itself needs', async () => {
    expect(await promptOf({ promptMode: 'none', rules: ['r'] }, { context: { workspace: folder.path } })).toBe(
      'You are the agent a. A test agent.',
    );
    const messages: RunInput['messages'] = [{ role: 'system', parts: [{ type: 'text', text: 'Given.' }] }];
    expect(await promptOf({ promptMode: 'none' }, { messages })).toBe('You are the agent a. A test agent.\n\nGiven.');
  });

  it('C-34: the date has a time zone and no clock, and a later attempt has the date of the start', async () => {
    const started = { at: '2026-11-22T16:30:00Z', executionId: 'e' };
    const prompt = async (timeZone: string): Promise<string> => {
      const { setup } = await activity({ promptMode: 'full' })({ runId: 'r', input: input({ context: { timeZone } }), started });
      return setup.prompt;
    };
    expect(await prompt('Asia/Tokyo')).toContain('Date: 2026-11-23 (time zone Asia/Tokyo)\n');
    expect(await prompt('UTC')).toContain('Date: 2026-11-22 (time zone UTC)\n');
    expect(await prompt('UTC')).not.toMatch(/\d{2}:\d{2}/u);
    await expect(prompt('Mars/Olympus')).rejects.toMatchObject({ message: expect.stringContaining('context.timeZone: is no time zone') });
  });

  it('instructions of the config stand before the project, and the same file of a workspace is not repeated', async () => {
    await writeFile(join(folder.path, 'AGENTS.md'), 'Use tabs.\n');
    const prompt = await promptOf(
      {},
      { context: { workspace: folder.path, projectPath: 'shop' } },
      { instructions: { 'AGENTS.md': 'Use tabs.' } },
    );
    expect(prompt).toMatch(/^Do it\.\n\n# Instructions from AGENTS\.md\n\nUse tabs\.\n\nProject: shop\n\n/u);
    expect(prompt.match(/Use tabs/gu)).toHaveLength(1);
  });

  it('says what each section changes with: what comes first is stable for the caches of providers', async () => {
    const { sections } = await preview({ promptMode: 'full', rules: ['r'] }, { context: { workspace: folder.path } });
    const changes = Object.fromEntries(sections.map(({ name, changesWith }) => [name, changesWith]));
    expect(changes).toMatchObject({ identity: 'config', agent: 'config', workspace: 'workspace', runtime: 'day', rules: 'config' });
  });

  it('is the same for the same input, and for a preview as for a start', async () => {
    const given = { context: { workspace: folder.path, variables: { a: '1' } } };
    const [first, second] = await Promise.all([promptOf({ promptMode: 'full' }, given), promptOf({ promptMode: 'full' }, given)]);
    expect(second).toBe(first);
    expect((await previewRun(input(given), optionsOf({ ...base, promptMode: 'full' }, {}), 'r')).prepared.setup.prompt).toBe(first);
  });

  it('of a preview without a model are complete, and the reason is told', async () => {
    const options = optionsOf({ description: 'd', prompt: 'Do it.' }, {});
    const { prepared, modelProblem } = await previewRun(
      { task: 't', agent: 'a' },
      { ...options, config: { ...options.config, model: 'openai/m' } },
      'r',
    );
    expect(prepared.setup.prompt).toBe('Do it.');
    expect(modelProblem).toContain('SECRET_MISSING');
  });
});

describe('bootstrap files', () => {
  const full = { promptMode: 'full' } as const;

  it('C-34: each is cut at 20,000 characters and all at 60,000, with a mark; missing ones are one short line', async () => {
    const { bootstrapFileCharsMax: each, bootstrapTotalCharsMax: all } = PROMPT_LIMITS;
    for (const name of ['AGENTS.md', 'SOUL.md', 'TOOLS.md', 'CLAUDE.md'])
      await writeFile(join(folder.path, name), `${name} ${'ä'.repeat(each)}`);
    const text = await filesOf(full);
    expect(text).toContain(`[AGENTS.md is cut here, after ${each} characters; read the rest from the file]`);
    expect(text).toContain('[CLAUDE.md is cut here, after ');
    expect(text).toContain('[not in this workspace: USER.md]');
    expect(text.match(/ä/gu)?.length).toBeLessThan(all);
  });

  it('C-34: BOOTSTRAP.md is for a new workspace, and one with work in it is not new', async () => {
    await writeFile(join(folder.path, 'BOOTSTRAP.md'), 'Ask for a name.');
    await mkdir(join(folder.path, '.git'));
    expect(await filesOf(full)).toContain('# Instructions from BOOTSTRAP.md\n\nAsk for a name.');
    await writeFile(join(folder.path, 'main.ts'), '');
    expect(await filesOf(full)).not.toContain('BOOTSTRAP');
  });

  it('C-33: a sub-agent has no files of identity and user', async () => {
    for (const name of ['AGENTS.md', 'SOUL.md', 'USER.md', 'TOOLS.md']) await writeFile(join(folder.path, name), `text of ${name}`);
    const text = await filesOf({ promptMode: 'minimal' });
    expect(text).toContain('text of AGENTS.md');
    expect(text).toContain('text of TOOLS.md');
    expect(text).not.toMatch(/SOUL|USER/u);
  });

  it('X9: links, pipes and folders are left out, and 10 MiB cost nothing', async () => {
    await writeFile(join(folder.path, 'secret'), 'out of reach');
    await symlink(join(folder.path, 'secret'), join(folder.path, 'SOUL.md'));
    await promisify(execFile)('mkfifo', [join(folder.path, 'USER.md')]);
    await mkdir(join(folder.path, 'TOOLS.md'));
    await writeFile(join(folder.path, 'AGENTS.md'), 'x'.repeat(10 * MIB));
    const before = process.memoryUsage().arrayBuffers;
    const text = await filesOf(full);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MIB);
    expect(text).not.toContain('out of reach');
    expect(text).toContain('[AGENTS.md is cut here');
    expect(text).toContain('[not in this workspace: SOUL.md, TOOLS.md, USER.md, CLAUDE.md]');
  });
});

function input(given: Partial<RunInput>): RunInput {
  return { task: 't', agent: 'a', ...given };
}

function optionsOf(agent: AgentDefinition, config: Config): Parameters<typeof createPrepareRun>[0] {
  return {
    config: { model: 'scripted/x', ...config, agents: { a: agent } },
    configHash: 'h',
    keys: captureKeys({}),
    env: {},
    workspaceTools: WORKSPACE_TOOLS,
    searchAttributes: [],
  };
}

const base = { description: 'A test agent.', prompt: 'Do it.' };

function activity(agent: Partial<AgentDefinition>, config: Config = {}) {
  return createPrepareRun(optionsOf({ ...base, ...agent }, config));
}

async function promptOf(agent: Partial<AgentDefinition>, given: Partial<RunInput> = {}, config: Config = {}): Promise<string> {
  return (await activity(agent, config)({ runId: 'r', input: input(given) })).setup.prompt;
}

function preview(agent: Partial<AgentDefinition>, given: Partial<RunInput>) {
  return previewRun(input(given), optionsOf({ ...base, ...agent }, { instructions: { house: 'House rules.' } }), 'r');
}

const toldPrompt: AgentDefinition['prompt'] = ({ agent, runId, context, variables }) =>
  Promise.resolve(`${agent} ${runId} ${context.projectPath} ${variables['tone']}`);

function brokenPrompt(): string {
  throw new Error('no such tenant');
}

async function filesOf(agent: Partial<AgentDefinition>): Promise<string> {
  const { sections } = await preview(agent, { context: { workspace: folder.path } });
  return sections.find(({ name }) => name === 'files')?.text ?? '';
}
