import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { NativeConnection, type Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { AgentClient } from '../../../src/client/agent-client.js';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import { loadConfig } from '../../../src/worker/config/load-config.js';
import { createWorker } from '../../../src/worker/create-worker.js';
import { createDataConverter } from '../../../src/worker/data-converter.js';
import { openStateFolder } from '../../../src/worker/state-folder/state-folder.js';

const MCP_SERVER = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/dist/index.js');

/** Both configs have the same names everywhere, and the letter of their worker in all that is behind a name. */
const CONFIG = (letter: string, folder: string) => `
import { defineHook, defineTool, defineWireFormat } from 'perdure';
import { z } from 'zod';

const CALLS = [['where', {}], ['long', {}], ['from_plugin', {}], ['read_skill', { name: 'greet' }], ['docs_list_allowed_directories', {}], ['remember', { text: 'note of ${letter}' }]];
const texts = (parts) => parts.map((part) => part.text ?? part.head ?? '').join(' ').slice(0, 2_000);
const resultsIn = (messages) => messages.flatMap(({ parts }) => parts).flatMap((part) => (part.type === 'tool_result' ? [texts(part.parts)] : []));

const format = defineWireFormat({
  name: 'own',
  create: ({ key }) => ({
    call: async ({ prompt, messages, tools }) => {
      const results = resultsIn(messages);
      if (results.length === 0)
        return { stop: 'tool_calls', parts: CALLS.map(([name, args], index) => ({ type: 'tool_call', callId: 'c' + index, name, args })) };
      const hasKey = key() === 'secret-key-of-${letter}';
      return { stop: 'end', parts: [{ type: 'text', text: JSON.stringify({ prompt, results, hasKey, tools: tools.map(({ name }) => name) }) }] };
    },
  }),
});
const tool = (name, text, more = {}) => defineTool({ name, description: 'of ${letter}', parameters: z.strictObject({}), effect: 'read', execute: () => text, ...more });

export default {
  model: 'own/m',
  providers: { own: { api: 'custom', format, credentials: 'env:OWN_KEY' } },
  plugins: ['./plugin.mjs'],
  tools: [tool('where', 'answer of ${letter}'), tool('long', 'long text of ${letter} '.repeat(10_000)), tool('only_${letter}', 'x')],
  hooks: [defineHook({ name: 'mark', on: 'after-tool', tools: ['where'], run: ({ output }) => ({ action: 'modify', output: output + ', hooked by ${letter}' }) })],
  agents: { guide: { description: 'd', prompt: 'You are the guide of ${letter}.', promptMode: 'full', skills: ['greet'] } },
  memory: { scope: 'user', folder: ${JSON.stringify(join(folder, 'memory'))} },
  mcpServers: { docs: { command: process.execPath, args: [${JSON.stringify(MCP_SERVER)}, ${JSON.stringify(join(folder, 'docs'))}] } },
  sandbox: { mode: 'none' },
};
`;
const PLUGIN = (letter: string) => `
import { defineTool } from 'perdure';
import { z } from 'zod';
export default { name: 'shared-name', tools: [defineTool({ name: 'from_plugin', description: 'd', parameters: z.strictObject({}), effect: 'read', execute: () => 'plugin of ${letter}' })] };
`;

interface Started {
  readonly letter: string;
  readonly folder: string;
  readonly worker: Worker;
  readonly running: Promise<void>;
  readonly client: AgentClient;
}

/** What the model of a worker reports about everything that it saw. */
interface Seen {
  readonly prompt: string;
  readonly results: readonly string[];
  readonly hasKey: boolean;
  readonly tools: readonly string[];
}

describe('two workers of one process, on one server', () => {
  let base: string;
  let connection: NativeConnection;
  let workers: readonly Started[];
  beforeAll(async () => {
    base = await realpath(await mkdtemp(join(tmpdir(), 'perdure-two-workers-')));
    connection = await NativeConnection.connect({ address: inject('temporalAddress') });
    workers = await Promise.all(['A', 'B'].map((letter) => start(letter)));
  });
  afterAll(async () => {
    for (const { worker, running, client } of workers ?? []) {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await running;
      await client.close();
    }
    await connection?.close();
    await rm(base, { recursive: true, force: true });
  });

  it('neither sees tools, agents, hooks, skills, keys, providers, plugins, MCP servers, memory or stores of the other', async () => {
    const asked = workers.flatMap((worker) => [worker, worker, worker]);
    const answers = await Promise.all(asked.map(runOn));
    for (const [index, { letter, folder }] of asked.entries()) {
      const { prompt, results, tools, hasKey } = seenIn(answers[index]);
      expect(prompt).toContain(`You are the guide of ${letter}.`);
      expect(prompt).toContain(`- greet: Greets for ${letter}.`);
      expect(hasKey).toBe(true);
      expect(tools.filter((name) => name.startsWith('only_'))).toEqual([`only_${letter}`]);
      const [where, long, plugin, skill, docs] = results;
      expect(where).toBe(`answer of ${letter}, hooked by ${letter}`);
      expect(long).toContain(`long text of ${letter}`);
      expect(plugin).toBe(`plugin of ${letter}`);
      expect(skill).toContain(`Greet as ${letter} does.`);
      expect(docs).toContain(join(folder, 'docs'));
      const other = letter === 'A' ? 'B' : 'A';
      expect(JSON.stringify({ prompt, results, tools })).not.toMatch(new RegExp(`of ${other}\\b|only_${other}|/${other}/`, 'u'));
    }
    for (const { letter, folder } of workers) {
      expect(await readdir(join(folder, 'memory'))).toHaveLength(1);
      const stored = await readdir(join(folder, '.perdure', 'artifacts'), { recursive: true });
      expect(stored.length, `outputs of ${letter}`).toBeGreaterThan(0);
    }
  });

  it('shutting one down leaves the other working, also a run that was under way', async () => {
    const [a, b] = workers as readonly [Started, Started];
    const underWay = runOn(b);
    a.worker.shutdown();
    await a.running;
    expect(seenIn(await underWay).results[0]).toBe('answer of B, hooked by B');
    const after = seenIn(await runOn(b));
    expect(after.results[4]).toContain(join(b.folder, 'docs'));
    expect(after.prompt).toContain('You are the guide of B.');
  });

  async function start(letter: string): Promise<Started> {
    const folder = join(base, letter);
    await put(join(folder, 'perdure.config.mjs'), CONFIG(letter, folder));
    await put(join(folder, 'plugin.mjs'), PLUGIN(letter));
    await put(
      join(folder, 'skills/greet/SKILL.md'),
      `---\nname: greet\ndescription: Greets for ${letter}.\n---\nGreet as ${letter} does.\n`,
    );
    await put(join(folder, 'docs/readme.md'), `docs of ${letter}`);
    const config = await loadConfig({ cwd: folder, env: { OWN_KEY: `secret-key-of-${letter}`, XDG_CACHE_HOME: base } });
    const stateDir = join(folder, '.perdure');
    const { artifacts } = await openStateFolder(stateDir);
    const taskQueue = `two-workers-${letter}-${randomUUID()}`;
    const worker = await createWorker({ connection, taskQueue, config, stateDir, overrides: { shutdownGraceTime: 5_000 } });
    const client = await AgentClient.connect({
      address: inject('temporalAddress'),
      taskQueue,
      dataConverter: createDataConverter({ artifactsDir: artifacts }),
    });
    return { letter, folder, worker, running: worker.run(), client };
  }
});

async function runOn({ client }: Started): Promise<RunResult> {
  const { run } = await client.start({ task: 'look around', agent: 'guide' });
  return await run.result();
}

function seenIn(result: RunResult | undefined): Seen {
  expect(result).toMatchObject({ reason: 'completed', turns: 2 });
  return JSON.parse(result?.output ?? '') as Seen;
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
