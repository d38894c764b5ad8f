import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ask, CallQuestion, CallSampling } from '../../../src/activities/mcp/asking-context.js';
import type { SamplingRequest } from '../../../src/contracts/schemas/sampling.js';
import { until } from '../../support/use-workers.js';
import { callTool, RUN, textOf } from './support/calls.js';
import { useMcp } from './support/mcp-kit.js';

const BIN = resolve('node_modules/.bin');
const EVERYTHING = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');

describe('published MCP servers', { timeout: 60_000 }, () => {
  const { folder, open } = useMcp();

  describe.each(['stdio', 'streamable HTTP'])('server-everything over %s', (transport) => {
    let url: string;
    let stop: (() => Promise<unknown>) | undefined;
    beforeAll(async () => {
      if (transport === 'stdio') return;
      const port = await freePort();
      url = `http://127.0.0.1:${port}/mcp`;
      const child = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
        env: { ...process.env, PORT: String(port) },
        stdio: 'ignore',
      });
      stop = () => Promise.all([once(child, 'exit'), Promise.resolve(child.kill())]);
      const answers = (): Promise<boolean> =>
        fetch(url).then(
          () => true,
          () => false,
        );
      await until(answers, 'the start of the server');
    });
    afterAll(async () => await stop?.());

    const servers = () => ({ all: transport === 'stdio' ? { command: process.execPath, args: [EVERYTHING, 'stdio'] } : { url } });

    it('offers its tools, and tools for its resources and prompts', async () => {
      const { tools: offered, notices } = await open({ servers: servers() }).offer(['all'], RUN);
      expect(notices).toEqual([]);
      const names = offered.map(({ tool }) => tool.name);
      expect(names).toEqual(
        expect.arrayContaining([
          'all_echo',
          'all_get-sum',
          'all_list_resources',
          'all_read_resource',
          'all_list_prompts',
          'all_get_prompt',
        ]),
      );
      expect(offered.find(({ tool }) => tool.name === 'all_echo')?.tool.schema).toMatchObject({
        type: 'object',
        properties: { message: { type: 'string' } },
      });
    });

    it('gives text, images, embedded resources and structured content', async () => {
      const tools = open({ servers: servers() });
      expect(textOf(await callTool(tools, 'all_echo', { message: 'hello' }))).toContain('hello');
      expect(textOf(await callTool(tools, 'all_get-sum', { a: 2, b: 40 }))).toContain('42');
      const image = await callTool(tools, 'all_get-tiny-image');
      expect(image).toContainEqual({ type: 'file', mime: 'image/png', dataBase64: expect.stringMatching(/^iVBOR/u) });
      expect(textOf(await callTool(tools, 'all_get-structured-content', { location: 'New York' }))).toContain('temperature');
    });

    it('B-37: asks during a call, and gets the values of each kind of field', async () => {
      const tools = open({ servers: { all: { ...servers().all, elicitation: true } } });
      const { tools: offered } = await tools.offer(['all'], { ...RUN, run: { id: 'run', samples: false } });
      expect(offered.find(({ tool }) => tool.name === 'all_trigger-elicitation-request')?.asks).toBe(true);
      const asked: CallQuestion[] = [];
      const ask: Ask = (question) => {
        asked.push(question);
        return Promise.resolve({
          outcome: 'answered',
          answer: 'name=Ada\ncheck=yes\ninteger=7\nbirthdate=1815-12-10\nuntitledMultipleSelectEnum=2',
        });
      };
      const text = textOf(await callTool(tools, 'all_trigger-elicitation-request', {}, { ask }));
      expect(asked).toMatchObject([{ askedBy: 'MCP server all', question: expect.stringContaining('birthdate: date, optional') }]);
      expect(text).toContain('"name": "Ada"');
      expect(text).toContain('"integer": 7');
      expect(text).toContain('Piano');
      const declined = await callTool(
        tools,
        'all_trigger-elicitation-request',
        {},
        { ask: () => Promise.resolve({ outcome: 'declined' }) },
      );
      expect(textOf(declined)).toContain('declined');
    });

    it('B-37: requests a completion during a call, and gets it', async () => {
      const tools = open({ servers: { all: { ...servers().all, sampling: true } } });
      const { tools: offered } = await tools.offer(['all'], { ...RUN, run: { id: 'run', samples: true } });
      const name = 'all_trigger-sampling-request';
      expect(offered.find(({ tool }) => tool.name === name)?.samples).toEqual({ requestsMax: 5, tokensMax: 2_048 });
      const requested: SamplingRequest[] = [];
      const sampling: CallSampling = {
        bounds: { requestsMax: 5, tokensMax: 2_048 },
        request: (request) => {
          requested.push(request);
          return Promise.resolve({ outcome: 'answered', text: 'four', model: 'fake/model', stop: 'end' });
        },
      };
      const text = textOf(await callTool(tools, name, { prompt: 'What is 2 + 2?', maxTokens: 20 }, { sampling }));
      expect(requested).toMatchObject([{ server: 'all', system: 'You are a helpful test server.', tokensMax: 20, temperature: 0.7 }]);
      expect(JSON.stringify(requested[0]?.messages)).toContain('What is 2 + 2?');
      expect(text).toContain('"text": "four"');
      expect(text).toContain('"stopReason": "endTurn"');
      await expect(callTool(tools, name, { prompt: 'again' })).rejects.toThrow(/no tool|only a call may ask/u);
    });

    it('reads its resources and prompts', async () => {
      const tools = open({ servers: servers() });
      const listed = textOf(await callTool(tools, 'all_list_resources'));
      const [uri = ''] = listed.split(' – ');
      expect(textOf(await callTool(tools, 'all_read_resource', { uri })).length).toBeGreaterThan(uri.length);
      expect(textOf(await callTool(tools, 'all_list_prompts'))).toContain('simple-prompt()');
      expect(textOf(await callTool(tools, 'all_get_prompt', { name: 'simple-prompt' }))).not.toBe('');
    });

    it('reports an unknown tool, bad arguments and progress', async () => {
      const tools = open({ servers: servers() });
      await expect(callTool(tools, 'all_ech')).rejects.toThrow(
        'the MCP server all has no tool all_ech (did you mean all_echo?); it has: all_echo, ',
      );
      await expect(callTool(tools, 'all_echo', {})).rejects.toThrow('invalid arguments for all_echo');
      const seen: unknown[] = [];
      await callTool(
        tools,
        'all_trigger-long-running-operation',
        // the SDK drops progress that comes together with the result
        { duration: 3, steps: 2 },
        { onHeartbeat: (details) => seen.push(details) },
      );
      expect(seen).toContainEqual({ progress: 1, total: 2 });
    });
  });

  it('server-filesystem runs in the workspace of each run, and reaches no other folder', async () => {
    const [one, two] = [await folder(), await folder()];
    await writeFile(join(one, 'note.txt'), 'first');
    await writeFile(join(two, 'note.txt'), 'second');
    const tools = open({ servers: { files: { command: join(BIN, 'mcp-server-filesystem'), args: ['.'], workspace: true } } });
    expect(await tools.offer(['files'], RUN)).toEqual({ tools: [], notices: [], hashes: {} });
    const { tools: offered } = await tools.offer(['files'], { ...RUN, workspace: one });
    expect(offered.find(({ tool }) => tool.name === 'files_read_text_file')).toMatchObject({ workspace: true, tool: { effect: 'read' } });
    expect(textOf(await callTool(tools, 'files_read_text_file', { path: 'note.txt' }, { workspace: one }))).toBe('first');
    expect(textOf(await callTool(tools, 'files_read_text_file', { path: 'note.txt' }, { workspace: two }))).toBe('second');
    await callTool(tools, 'files_write_file', { path: 'made.txt', content: 'made' }, { workspace: one });
    expect(await readFile(join(one, 'made.txt'), 'utf8')).toBe('made');
    await expect(callTool(tools, 'files_read_text_file', { path: join(two, 'note.txt') }, { workspace: one })).rejects.toThrow(
      'Access denied',
    );
  });

  it('server-memory keeps what it is told in its working folder, through a new process', async () => {
    const cwd = await folder();
    const memory = { command: join(BIN, 'mcp-server-memory'), cwd, env: { MEMORY_FILE_PATH: join(cwd, 'memory.json') } };
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['likes tea'] }];
    await callTool(open({ servers: { memory } }), 'memory_create_entities', { entities });
    expect(textOf(await callTool(open({ servers: { memory } }), 'memory_read_graph'))).toContain('likes tea');
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
