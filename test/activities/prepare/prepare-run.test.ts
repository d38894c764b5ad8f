import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createPrepareRun } from '../../../src/activities/prepare/prepare-run.js';
import { FileArtifactStore } from '../../../src/artifacts/file-artifact-store.js';
import { PAYLOAD_LIMITS, WORKSPACE_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { GivenMessage } from '../../../src/contracts/schemas/message.js';
import type { RunInput } from '../../../src/contracts/schemas/run.js';
import type { AgentDefinition } from '../../../src/define/define-agent.js';
import type { Config } from '../../../src/define/define-config.js';
import { type AnyToolDefinition, defineTool } from '../../../src/define/define-tool.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { createReadArtifact } from '../../../src/tools/read-artifact.js';
import { WORKSPACE_TOOLS } from '../../../src/tools/registry.js';
import { useTempFolder } from '../../support/temp-folder.js';

const add = defineTool({
  name: 'add',
  description: 'Adds.',
  parameters: z.strictObject({ a: z.number(), b: z.number() }),
  effect: 'read',
  execute: ({ a, b }) => a + b,
});

const KEY = { OPENAI_API_KEY: 'k-0123456789' };

const system = (text: string): GivenMessage => ({ role: 'system', parts: [{ type: 'text', text }] });

describe('prepareRun', () => {
  it('A14: a file that no model should get is refused as input, in the task and in given messages', async () => {
    const file = { type: 'file', mime: 'image/png', dataBase64: Buffer.from('<html>').toString('base64') } as const;
    const refused = { type: 'Input.Invalid', message: 'BAD_IMAGE: the data is not a complete png image', nonRetryable: true };
    await expect(prepare({ task: [{ type: 'text', text: 'look' }, file] })).rejects.toMatchObject(refused);
    await expect(prepare({ messages: [{ id: 'm', role: 'user', parts: [file] }] })).rejects.toMatchObject(refused);
  });

  const folder = useTempFolder('perdure-prepare-');

  it('A-01: the model of the request goes before the agent, the environment and the config', async () => {
    const config: Config = { model: 'openai/from-config', agents: { a: { description: 'd', prompt: 'p', model: 'openai/from-agent' } } };
    const env = () => ({ ...KEY, PERDURE_MODEL: 'openai/from-env' });
    expect((await prepare({ agent: 'a', model: 'openai/from-request' }, { config, env: env() })).model).toBe('openai/from-request');
    expect((await prepare({ agent: 'a' }, { config, env: env() })).model).toBe('openai/from-agent');
    expect((await prepare({}, { config, env: env() })).model).toBe('openai/from-env');
    expect((await prepare({}, { config, env: { ...KEY } })).model).toBe('openai/from-config');
  });

  it('D-17: without any choice the model comes from the keys that are there; without keys the error names them', async () => {
    expect((await prepare({}, { env: { ANTHROPIC_API_KEY: 'k-123456' } })).model).toMatch(/^anthropic\//u);
    await expect(prepare({})).rejects.toMatchObject({
      type: 'Input.NoModel',
      nonRetryable: true,
      message: expect.stringContaining('OPENAI_API_KEY'),
    });
  });

  it('a model without its key is refused before the first request, by the names of variables alone', async () => {
    const refusal = await prepare({ model: 'anthropic/m' }, { env: { ...KEY } }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ type: 'Input.NoModel', message: expect.stringContaining('SECRET_MISSING env:ANTHROPIC_API_KEY') });
    expect(String(refusal)).toContain('OPENAI_API_KEY');
    expect(JSON.stringify(refusal)).not.toContain(KEY.OPENAI_API_KEY);
  });

  it('B10, B9: a bad input from any language is refused with all its problems at once', async () => {
    await expect(prepare({ maxTurns: 0, maxturn: 3 } as Partial<RunInput>)).rejects.toMatchObject({
      type: 'Input.Invalid',
      message: expect.stringMatching(/maxTurns: .*; .*maxturn: unknown \(did you mean maxTurns\?\)/u),
    });
    await expect(prepare({ task: '  ' })).rejects.toMatchObject({
      type: 'Input.Invalid',
      message: expect.stringContaining('EMPTY_MESSAGE'),
    });
  });

  it('an unknown agent is refused with the names there are', async () => {
    const config: Config = { agents: { reviewer: { description: 'd', prompt: 'p' } } };
    await expect(prepare({ agent: 'reviwer', model: 'scripted/x' }, { config })).rejects.toMatchObject({
      type: 'Input.UnknownAgent',
      message: 'no agent named "reviwer" (did you mean reviewer?); available: default, reviewer',
    });
    await expect(prepare({ agent: 'constructor', model: 'scripted/x' })).rejects.toMatchObject({ type: 'Input.UnknownAgent' });
  });

  it('a run without workspace has only the tools of the config; with one it has six more, in a fixed order', async () => {
    const config: Config = { tools: [add], model: 'scripted/x' };
    expect((await prepare({}, { config })).setup.tools.map((tool) => tool.name)).toEqual(['add']);
    const { setup } = await prepare({ context: { workspace: folder.path } }, { config });
    expect(setup.tools.map((tool) => tool.name)).toEqual(['add', ...WORKSPACE_TOOLS.map((tool) => tool.name)]);
    expect(setup.tools.find((tool) => tool.name === 'edit_file')).toMatchObject({ effect: 'once', hasReconcile: true, workspace: true });
  });

  it('read_artifact is offered with every list of tools, not without any, and not where it is blocked', async () => {
    const readArtifact = createReadArtifact(new FileArtifactStore(folder.path));
    const definition = { description: 'd', prompt: 'p' };
    const agents = {
      adder: { ...definition, tools: ['add'] },
      idle: { ...definition, blockedTools: ['add'] },
      blocked: { ...definition, blockedTools: ['read_artifact'] },
    };
    const config: Config = { tools: [add], model: 'scripted/x', agents };
    const offered = async (agent: string): Promise<string[]> =>
      (await prepare({ agent }, { config, readArtifact })).setup.tools.map(({ name }) => name);
    expect(await offered('adder')).toEqual(['add', 'read_artifact']);
    expect(await offered('idle')).toEqual([]);
    expect(await offered('blocked')).toEqual(['add']);
  });

  it('A-10: an agent may take tools away by list and by block', async () => {
    const config: Config = {
      model: 'scripted/x',
      agents: {
        reader: { description: 'd', prompt: 'p', tools: ['read_file', 'run_command'], blockedTools: ['run_command'] },
      },
    };
    const { setup } = await prepare({ agent: 'reader', context: { workspace: folder.path } }, { config });
    expect(setup.tools.map((tool) => tool.name)).toEqual(['read_file']);
  });

  it('A-10: an empty list of tools means all, less the blocked ones', async () => {
    const config: Config = {
      tools: [add],
      model: 'scripted/x',
      agents: { a: { description: 'd', prompt: 'p', tools: [], blockedTools: ['run_command'] } },
    };
    const { setup } = await prepare({ agent: 'a', context: { workspace: folder.path } }, { config });
    expect(setup.tools.map((tool) => tool.name)).toEqual(['add', 'read_file', 'write_file', 'edit_file', 'list_files', 'search_files']);
  });

  it('A-05, A-06: the prompt is base, project, mode, workspace, then the instruction files that are there, each under its name', async () => {
    await writeFile(join(folder.path, 'AGENTS.md'), 'Use tabs.');
    await writeFile(join(folder.path, 'CLAUDE.md'), '   ');
    const { setup } = await prepare({ model: 'scripted/x', context: { workspace: folder.path, projectPath: 'shop', mode: 'code' } });
    const order = ['careful agent', 'Project: shop', 'You work on code', 'workspace folder', '# Instructions from AGENTS.md\n\nUse tabs.'];
    const places = order.map((text) => setup.prompt.indexOf(text));
    expect(places.every((place) => place >= 0)).toBe(true);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(setup.prompt).not.toContain('CLAUDE.md');
  });

  it('an instruction file that is a link, a folder or a pipe is left out; a long one is cut with a mark', async () => {
    await writeFile(join(folder.path, 'secret'), 'out of reach');
    await symlink(join(folder.path, 'secret'), join(folder.path, 'AGENTS.md'));
    await promisify(execFile)('mkfifo', [join(folder.path, 'agents.md')]);
    await mkdir(join(folder.path, 'CLAUDE.md'));
    expect((await prepare({ model: 'scripted/x', context: { workspace: folder.path } })).setup.prompt).not.toContain('Instructions from');
    await rm(join(folder.path, 'CLAUDE.md'), { recursive: true });
    await writeFile(join(folder.path, 'CLAUDE.md'), `begin ${'ü'.repeat(WORKSPACE_LIMITS.instructionFileBytesMax)} end`);
    const { prompt } = (await prepare({ model: 'scripted/x', context: { workspace: folder.path } })).setup;
    expect(prompt).toMatch(/# Instructions from CLAUDE\.md\n\nbegin ü+… \[cut\]$/u);
    expect(Buffer.byteLength(prompt)).toBeLessThan(WORKSPACE_LIMITS.instructionFileBytesMax + 2_000);
  });

  it('A-09: the mode of a user interface names its component', async () => {
    const { setup } = await prepare({
      model: 'scripted/x',
      context: { mode: 'ui', component: 'Cart', variables: { route: '/cart', empty: '' } },
    });
    expect(setup.prompt).toMatch(/user interface\. Component: Cart\n\nroute: \/cart$/u);
  });

  it('the same input gives the same setup and hash; a changed prompt gives another', async () => {
    const [first, again] = [await prepareWith('p'), await prepareWith('p')];
    expect(again).toEqual(first);
    expect((await prepareWith('q')).setupHash).not.toBe(first.setupHash);
  });

  it('A-05: no project and no context leave the base prompt as it is', async () => {
    const config: Config = { model: 'scripted/x', agents: { a: { description: 'd', prompt: 'Exactly this.' } } };
    expect((await prepare({ agent: 'a' }, { config })).setup.prompt).toBe('Exactly this.');
  });

  it('A-07: what the system messages of given messages say stands after the base prompt; other parts they cannot have', async () => {
    const config: Config = { model: 'scripted/x', agents: { a: { description: 'd', prompt: 'Exactly this.' } } };
    const messages: RunInput['messages'] = [
      system('You are terse.'),
      { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'look' }] },
      system(' '),
      system('Answer in German.'),
    ];
    const { setup } = await prepare({ agent: 'a', messages }, { config });
    expect(setup.prompt).toBe('Exactly this.\n\nYou are terse.\n\nAnswer in German.');
    const strange = { role: 'system', parts: [{ type: 'tool_call', callId: 'c', name: 'x', args: {} }] };
    await expect(prepare({ agent: 'a', messages: [strange] as never }, { config })).rejects.toMatchObject({ type: 'Input.Invalid' });
  });

  it.each<[what: string, input: Partial<RunInput>]>([
    ['tenant', { tenant: 't'.repeat(201) }],
    ['session', { session: 's'.repeat(201) }],
    ['agent', { agent: 'a'.repeat(201) }],
    ['model', { model: `scripted/${'m'.repeat(200)}` }],
    ['fallbacks', { fallbacks: [`scripted/${'m'.repeat(200)}`] }],
    ['continuedFrom', { continuedFrom: 'r'.repeat(1_001) }],
    ['context.workspace', { context: { workspace: `/${'w'.repeat(4_096)}` } }],
    ['context.projectPath', { context: { projectPath: 'p'.repeat(4_097) } }],
    ['context.component', { context: { component: 'c'.repeat(1_001) } }],
    ['context.variables', { context: { variables: { a: 'v'.repeat(65_536) } } }],
    ['context.host', { context: { host: 'not a host' } }],
  ])('A11: a text of the input that is too long for memo, attribute or prompt is refused by its name: %s', async (what, input) => {
    await expect(prepare({ model: 'scripted/x', ...input })).rejects.toMatchObject({
      type: 'Input.Invalid',
      nonRetryable: true,
      message: expect.stringContaining(`BAD_INPUT ${what}`),
    });
  });

  it('a missing or relative workspace is refused', async () => {
    await expect(prepare({ model: 'scripted/x', context: { workspace: join(folder.path, 'none') } })).rejects.toMatchObject({
      type: 'Input.Workspace',
    });
    // D5: also of a client in another language
    await expect(prepare({ model: 'scripted/x', context: { workspace: 'here' } })).rejects.toMatchObject({
      type: 'Input.Workspace',
      message: 'WORKSPACE here: an absolute path is needed',
    });
    await writeFile(join(folder.path, 'file'), '');
    await expect(prepare({ model: 'scripted/x', context: { workspace: join(folder.path, 'file') } })).rejects.toMatchObject({
      type: 'Input.Workspace',
      message: expect.stringContaining('not a folder'),
    });
  });

  it('a money cap with a model of unknown price is refused; a price of the config makes it work', async () => {
    await expect(prepare({ model: 'openai/unheard-of', maxCostUsd: 1 }, { env: { ...KEY } })).rejects.toMatchObject({
      message: expect.stringMatching(/^UNKNOWN_PRICE: .* add models: \{ "openai\/unheard-of": \{ price: .*\(--allow-unknown-price\)/u),
    });
    const prepared = await prepare(
      { model: 'openai/unheard-of', maxCostUsd: 1 },
      { config: { models: { 'openai/unheard-of': { price: { input: 1, output: 2 } } } }, env: { ...KEY } },
    );
    expect(prepared.price).toEqual({ input: 1, output: 2 });
  });

  it('D-20: fallbacks are those of the request, the agent, the environment or the config, with all that is known of them', async () => {
    const agents = { a: { description: 'd', prompt: 'p', fallbacks: ['openai/of-agent'] } };
    const config: Config = { model: 'openai/m', fallbacks: ['openai/of-config'], agents };
    const routeOf = async (input: Partial<RunInput>, env: NodeJS.ProcessEnv = {}): Promise<unknown> =>
      (await prepare(input, { config, env: { ...KEY, ...env } })).route?.map(({ model }) => model);
    const env = { PERDURE_FALLBACKS: 'openai/of-env,openai/m' };
    expect(await routeOf({ agent: 'a', fallbacks: ['openai/of-request'] }, env)).toEqual(['openai/m', 'openai/of-request']);
    expect(await routeOf({ agent: 'a' }, env)).toEqual(['openai/m', 'openai/of-agent']);
    expect(await routeOf({}, env)).toEqual(['openai/m', 'openai/of-env']);
    expect(await routeOf({})).toEqual(['openai/m', 'openai/of-config']);
    expect(await routeOf({ fallbacks: [] })).toEqual(['openai/m']);
  });

  it('what is not as it was asked for stands among the notices', async () => {
    const { notices } = await prepare({ model: 'scripted/x', fallbacks: ['groq/m'] });
    expect(notices).toEqual([expect.stringMatching(/^fallback left out: model groq\/m: no key for groq: SECRET_MISSING/u)]);
    expect(await prepare({ model: 'scripted/x' })).not.toHaveProperty('notices');
    const config: Config = { models: { 'scripted/x': { tools: false } }, tools: [add] };
    const told = await prepare({ model: 'scripted/x', fallbacks: ['groq/m'] }, { config });
    expect(told.notices).toEqual([
      expect.stringMatching(/^fallback left out: /u),
      expect.stringContaining('scripted/x is known to support no tools'),
    ]);
  });

  it('a money cap leaves out fallbacks of unknown price, unless it need not be kept', async () => {
    const capped = { model: 'openai/known', fallbacks: ['openai/unheard-of'], maxCostUsd: 1 };
    const config: Config = { prices: { 'openai/known': { input: 1, output: 2 } } };
    const { route, notices } = await prepare(capped, { config, env: { ...KEY } });
    expect(route).toHaveLength(1);
    expect(notices).toEqual([expect.stringContaining('openai/unheard-of: its price is unknown')]);
    expect((await prepare({ ...capped, allowUnknownPrice: true }, { config, env: { ...KEY } })).route).toHaveLength(2);
  });

  it("C-32: thinking of the request goes before the agent's; a level that the model does not have is refused with those it has", async () => {
    const models = { 'openai/m': { thinkingStyle: 'effort' as const, thinkingLevels: ['low' as const, 'high' as const] } };
    const config: Config = { model: 'openai/m', models, agents: { a: { description: 'd', prompt: 'p', thinking: 'high' } } };
    const thinkingOf = async (input: Partial<RunInput>): Promise<unknown> =>
      (await prepare({ agent: 'a', ...input }, { config, env: { ...KEY } })).route?.[0]?.thinking;
    expect(await thinkingOf({})).toBe('high');
    expect(await thinkingOf({ thinking: 'low' })).toBe('low');
    await expect(thinkingOf({ thinking: 'medium' })).rejects.toMatchObject({
      type: 'Input.NoModel',
      message: expect.stringMatching(/BAD_THINKING this model does not support the level medium; .*low, high/u),
    });
  });

  it('an agent with an executor asks it alone, whatever models the request names', async () => {
    const config: Config = {
      model: 'openai/m',
      fallbacks: ['openai/n'],
      agents: { parrot: { description: 'd', prompt: 'p', executor: { kind: 'stub', answer: 'hello' } } },
    };
    const prepared = await prepare({ agent: 'parrot', model: 'anthropic/x', maxCostUsd: 1 }, { config });
    expect(prepared).toMatchObject({ model: 'stub/parrot', route: [{ model: 'stub/parrot', credentials: [] }] });
  });

  it("the price of a model that writes summaries is the run's to know", async () => {
    const agent = { description: 'd', prompt: 'p', compaction: { strategies: ['summary' as const], summaryModel: 'openai/short' } };
    const config: Config = { model: 'scripted/x', agents: { a: agent }, prices: { 'openai/short': { input: 1, output: 2 } } };
    expect(await prepare({ agent: 'a' }, { config })).toMatchObject({ summaryPrice: { input: 1, output: 2 } });
  });

  it('a money cap leaves out a model for summaries whose price is unknown, unless it need not be kept', async () => {
    const agent = { description: 'd', prompt: 'p', compaction: { strategies: ['summary' as const], summaryModel: 'openai/unheard-of' } };
    const config: Config = { model: 'scripted/x', agents: { a: agent }, prices: { 'scripted/x': { input: 1, output: 2 } } };
    const capped = await prepare({ agent: 'a', maxCostUsd: 1 }, { config });
    expect(capped.policy?.compaction).toEqual(expect.not.objectContaining({ summaryModel: expect.anything() }));
    expect(capped.notices).toEqual([expect.stringMatching(/^summary model left out: model openai\/unheard-of: its price is unknown/u)]);
    for (const free of [{}, { maxCostUsd: 1, allowUnknownPrice: true }]) {
      const { policy, notices } = await prepare({ agent: 'a', ...free }, { config });
      expect([policy?.compaction.summaryModel, notices]).toEqual(['openai/unheard-of', undefined]);
    }
  });

  it('B22: a key in a file that lies in the workspace is refused, also behind a link: tools could read it', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'perdure-secret-'));
    try {
      await writeFile(join(folder.path, 'inside'), 'k-one', { mode: 0o600 });
      await symlink(join(folder.path, 'inside'), join(outside, 'link'));
      await writeFile(join(outside, 'secret'), 'k-two', { mode: 0o600 });
      const prepareWithKey = (path: string) =>
        prepare({ model: 'scripted/x', context: { workspace: folder.path } }, { config: { credentials: { openai: [`file:${path}`] } } });
      for (const path of [join(folder.path, 'inside'), join(outside, 'link')]) {
        await expect(prepareWithKey(path)).rejects.toMatchObject({
          type: 'Input.Workspace',
          message: expect.stringContaining(`SECRET_IN_WORKSPACE file:${path}`),
        });
      }
      await expect(prepareWithKey(join(outside, 'secret'))).resolves.toMatchObject({ model: 'scripted/x' });
    } finally {
      await rm(outside, { recursive: true, force: true });
    }
  });

  it('a setup larger than a query may answer is refused before the run starts', async () => {
    const config: Config = {
      model: 'scripted/x',
      agents: { a: { description: 'd', prompt: 'x'.repeat(PAYLOAD_LIMITS.outsideBytesMax + 1) } },
    };
    await expect(prepare({ agent: 'a' }, { config })).rejects.toMatchObject({ message: expect.stringContaining('SETUP_TOO_LARGE') });
  });

  it("a task of parts holds what a user may say: no call, no result, no reasoning of an agent's", async () => {
    const result = { type: 'tool_result' as const, callId: 'c', isError: false, parts: [] };
    await expect(prepare({ model: 'scripted/x', task: [{ type: 'text', text: 'go' }, result] })).rejects.toMatchObject({
      type: 'Input.Invalid',
      message: expect.stringContaining('a part of type tool_result cannot come from a user'),
    });
    await expect(prepare({ model: 'scripted/x', task: [{ type: 'text', text: 'go' }] })).resolves.toMatchObject({ model: 'scripted/x' });
  });

  it('A-31: a run in mode chat is prepared like any other', async () => {
    await expect(prepare({ model: 'scripted/x', mode: 'chat' })).resolves.toMatchObject({ model: 'scripted/x' });
  });

  it('an output schema stands in the prompt, word for word; a broken one is refused with its path', async () => {
    const outputSchema = { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] };
    const { setup } = await prepare({ model: 'scripted/x', outputSchema });
    expect(setup.prompt.endsWith(`\n\n${JSON.stringify(outputSchema)}`)).toBe(true);
    const broken = { type: 'object', properties: { total: { type: 'nmber' } } };
    await expect(prepare({ model: 'scripted/x', outputSchema: broken })).rejects.toMatchObject({
      type: 'Input.Invalid',
      message: expect.stringContaining('outputSchema.properties.total.type: use array, boolean'),
    });
  });

  it('B25: an output schema nested ten thousand deep is refused, not tried again', async () => {
    let outputSchema: NonNullable<RunInput['outputSchema']> = {};
    for (let level = 0; level < 10_000; level += 1) outputSchema = { not: outputSchema };
    await expect(prepare({ model: 'scripted/x', outputSchema })).rejects.toMatchObject({ type: 'Input.Invalid', nonRetryable: true });
  });

  it("caps are the input's, else the agent's", async () => {
    const config: Config = {
      model: 'scripted/x',
      agents: { a: { description: 'd', prompt: 'p', maxTurns: 7, budget: { maxTokens: 1_000, maxCostUsd: 2, deadlineMs: 60_000 } } },
    };
    expect(await prepare({ agent: 'a' }, { config })).toMatchObject({ maxTurns: 7, maxTokens: 1_000, maxCostUsd: 2, deadlineMs: 60_000 });
    const own = { maxTurns: 3, maxTokens: 50, maxCostUsd: 1, deadlineMs: 5_000 };
    expect(await prepare({ agent: 'a', ...own }, { config })).toMatchObject(own);
    expect(await prepare({}, { config })).not.toHaveProperty('maxTokens');
  });

  it('a money cap with an unknown price starts when it is told to, and says that the cap is not kept', async () => {
    const capped = { model: 'openai/unheard-of', maxCostUsd: 1 };
    const prepared = await prepare({ ...capped, allowUnknownPrice: true }, { env: { ...KEY } });
    expect(prepared).toMatchObject({ priceUnknown: true, maxCostUsd: 1 });
    expect(prepared).not.toHaveProperty('price');
    const config: Config = { agents: { a: { description: 'd', prompt: 'p', budget: { maxCostUsd: 1, allowUnknownPrice: true } } } };
    expect(await prepare({ agent: 'a', model: 'openai/unheard-of' }, { config, env: { ...KEY } })).toHaveProperty('priceUnknown', true);
    await expect(
      prepare({ agent: 'a', model: 'openai/unheard-of', allowUnknownPrice: false }, { config, env: { ...KEY } }),
    ).rejects.toMatchObject({ message: expect.stringContaining('UNKNOWN_PRICE') });
    expect(await prepare({ model: 'openai/unheard-of', allowUnknownPrice: true }, { env: { ...KEY } })).not.toHaveProperty('priceUnknown');
  });

  it('A-21: a run without tools is not told to call one first', async () => {
    const config: Config = {
      model: 'scripted/x',
      agents: { a: { description: 'd', prompt: 'p', firstToolChoice: 'required' } },
    };
    expect((await prepare({ agent: 'a' }, { config })).policy?.firstToolChoice).toBe('auto');
    expect((await prepare({ agent: 'a' }, { config: { ...config, tools: [add] } })).policy?.firstToolChoice).toBe('required');
  });

  it.each<[string[], AgentDefinition['completion']]>([
    [['add'], undefined],
    [['add', 'update_plan'], { checks: ['plan-finished'] }],
    [['add'], { checks: ['plan-finished'], planTool: 'add' }],
  ])('the tools %j are offered with completion %j, whatever the list of tools says', async (names, completion) => {
    const agent = { description: 'd', prompt: 'p', tools: ['add'], completion };
    const { setup } = await prepare({ agent: 'a' }, { config: { model: 'scripted/x', tools: [add], agents: { a: agent } } });
    expect(setup.tools.map(({ name }) => name)).toEqual(names);
  });
});

function prepareWith(prompt: string) {
  return prepare({ agent: 'a' }, { config: { model: 'scripted/x', agents: { a: { description: 'd', prompt } } } });
}

interface Surroundings {
  readonly config?: Config;
  readonly env?: NodeJS.ProcessEnv;
  readonly readArtifact?: AnyToolDefinition;
}

function prepare(input: Partial<RunInput>, { config = {}, env = {}, readArtifact }: Surroundings = {}) {
  const activity = createPrepareRun({
    config,
    configHash: 'h',
    keys: captureKeys(env),
    env,
    workspaceTools: WORKSPACE_TOOLS,
    ...(readArtifact ? { readArtifact } : {}),
    searchAttributes: [],
  });
  return activity({ runId: 'r', input: { task: 'do it', ...input } });
}
