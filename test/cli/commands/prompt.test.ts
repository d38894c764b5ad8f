import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CliFolder } from '../support/cli.js';

const SCRIPT = { PERDURE_MODEL: 'scripted/x' };

let folder: CliFolder;
beforeAll(async () => {
  folder = await CliFolder.make();
  await put(
    'agents/writer.md',
    '---\ndescription: Writes notes.\npromptMode: full\nskills: all\nmaxTurns: 7\ntools: [read_file]\n---\nWrite well.\n',
  );
  await put(
    'agents/form.md',
    '---\ndescription: Fills forms.\npromptTemplate: true\nmodel: openai/gpt-5.4-mini\n---\nServe {{customer}}.\n',
  );
  await put('.claude/agents/review.md', '---\nname: review\ndescription: Reviews.\ntools: Read, WebFetch\n---\nLook twice.\n');
  await put('skills/report/SKILL.md', '---\nname: report\ndescription: Reports.\n---\nText.\n');
  await put('perdure.config.mjs', `export default { import: ['.claude/agents'] };\n`);
  await put('work/AGENTS.md', 'Use tabs.\n');
});
afterAll(async () => {
  await folder.remove();
});

describe('perdure prompt', () => {
  it('prints the prompt on stdout, and the sizes of its sections on stderr, without a server', async () => {
    const { code, stdout, stderr } = await folder.run(['prompt', '--agent', 'writer', '--workspace', 'work'], SCRIPT);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^You are the agent writer\. Writes notes\.\n\nWrite well\.\n\nWork folder: .*work\n\n/u);
    expect(stdout).toContain('# Instructions from AGENTS.md\n\nUse tabs.');
    expect(stdout).toContain('- report: Reports. (skills/report/SKILL.md)');
    expect(stderr).toMatch(
      /^SECTION +TOKENS +CHANGES WITH\nidentity +10 +the config\nagent +3 +the config\nproject +\d+ +the run's input\n/u,
    );
    expect(stderr).toMatch(/\nruntime +\d+ +the day, the model\n/u);
    expect(stderr).toMatch(/\ntools +\d+ +3 schemas, sent beside the prompt\n/u);
    expect(stderr).toMatch(
      /\nstable for prompt caches: the first 13 of \d+ tokens, for all runs of this agent; within a run, all of it\n/u,
    );
  });

  it('--json has the sections with their sizes, and what changes them', async () => {
    const { stdout } = await folder.run(['prompt', 'the task', '--agent', 'form', '--var', 'customer=ACME=1', '--json'], {
      OPENAI_API_KEY: 'k-0123456789',
    });
    const shown = z
      .object({
        prompt: z.string(),
        models: z.array(z.string()),
        sections: z.array(z.unknown()),
        tokens: z.unknown(),
        tools: z.array(z.unknown()),
      })
      .parse(JSON.parse(stdout));
    expect(shown).toEqual({
      prompt: 'Serve ACME=1.',
      models: ['openai/gpt-5.4-mini'],
      sections: [{ name: 'agent', text: 'Serve ACME=1.', changesWith: 'run', tokens: 4 }],
      tokens: { prompt: 4, tools: 0, stable: 0 },
      tools: [],
    });
  });

  it('without a model still prints the prompt, and says that a run would not start', async () => {
    const { code, stdout, stderr } = await folder.run(['prompt', '--agent', 'review']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Look twice.\n' });
    expect(stderr).toMatch(/\na run would not start: .*OPENAI_API_KEY/u);
    expect(stderr).toMatch(/\nnotice: .*review\.md: no tool for WebFetch; it is left out\n/u);
  });

  it.each([
    [['--agent', 'writr'], 'UNKNOWN_AGENT: no agent named "writr" (did you mean writer?); available: default, '],
    [['--agent', 'form'], 'PROMPT_VARIABLE: the prompt of agent "form" needs {{customer}}; the run gives no variables.'],
    [['--var', 'customer'], 'BAD_OPTION: --var "customer": use NAME=VALUE'],
    [['--workspace', 'gone'], 'WORKSPACE: '],
  ])('%j is refused with exit status 2', async (args, line) => {
    const { code, stderr } = await folder.run(['prompt', ...args], SCRIPT);
    expect(code).toBe(2);
    expect(stderr).toContain(line);
  });

  it('no key of the worker is printed, wherever it stands', async () => {
    const key = 'k-secret-0123456789abcdef';
    const { stdout } = await folder.run(['prompt', '--agent', 'form', '--var', `customer=${key}`, '--json'], { OPENAI_API_KEY: key });
    expect(stdout).toContain('Serve ');
    expect(stdout).not.toContain(key);
  });
});

describe('perdure agents', () => {
  it('lists the agents with their models and the files that define them', async () => {
    const { code, stdout } = await folder.run(['agents'], SCRIPT);
    expect(code).toBe(0);
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/u))).toEqual([
      ['AGENT', 'MODEL', 'DEFINED IN', 'DESCRIPTION'],
      ['default', 'default', 'built-in', 'A careful general agent.'],
      ['form', 'openai/gpt-5.4-mini', 'agents/form.md', 'Fills forms.'],
      ['review', 'default', '.claude/agents/review.md', 'Reviews.'],
      ['writer', 'default', 'agents/writer.md', 'Writes notes.'],
      [''],
    ]);
    const list = z
      .object({ agents: z.array(z.object({ name: z.string() })) })
      .parse(JSON.parse((await folder.run(['agents', '--json'])).stdout));
    expect(list.agents.map(({ name }) => name)).toEqual(['default', 'form', 'review', 'writer']);
  });

  it('shows what one resolves to', async () => {
    const { code, stdout } = await folder.run(['agents', 'writer', '--workspace', 'work'], SCRIPT);
    expect(code).toBe(0);
    const lines = Object.fromEntries(stdout.split('\n').map((line) => [line.slice(0, 13).trim(), line.slice(13)]));
    expect(lines).toMatchObject({
      agent: 'writer',
      'defined in': 'agents/writer.md',
      models: 'scripted/x',
      tools: 'read_file (read), read_skill (read), read_artifact (read)',
      limits: '7 turns',
      gate: 'all',
    });
    expect(lines['prompt']).toMatch(/^about \d+ tokens: identity, agent, project, workspace, runtime, files, skills$/u);
    const shown = z
      .object({ name: z.string(), definedIn: z.string(), maxTurns: z.number(), policy: z.object({ memo: z.boolean() }) })
      .parse(JSON.parse((await folder.run(['agents', 'writer', '--json'], SCRIPT)).stdout));
    expect(shown).toMatchObject({ name: 'writer', maxTurns: 7 });
    expect((await folder.run(['agents', 'nobody'], SCRIPT)).stderr).toContain('UNKNOWN_AGENT');
  });
});

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder.path, path)), { recursive: true });
  await writeFile(join(folder.path, path), text);
}
