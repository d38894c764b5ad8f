import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '../../../../src/define/define-config.js';
import type { McpServer } from '../../../../src/define/worker/mcp-servers.js';
import type { ModelAnswer, ModelRequest } from '../../../../src/providers/contract/provider.js';
import { type AgentWorkerOptions, call, say } from '../../../support/agent-worker.js';
import { type TestRun, useWorkers } from '../../../support/use-workers.js';
import { resultTexts } from '../../support/result-texts.js';
import { useMcp } from './mcp-kit.js';

/** A server of the official SDK that asks during its calls. */
export const ASKING_SERVER = fileURLToPath(new URL('asking-server.mjs', import.meta.url));

/** The calls of a model's first answer. */
export type Calls = readonly (readonly [string, unknown])[];

/** What a test changes. */
export interface DeskOptions {
  readonly server?: Partial<McpServer>;
  readonly worker?: Partial<AgentWorkerOptions>;
  readonly agent?: object;
  readonly config?: Partial<Config>;
}

/** Workers with the server `desk`, which may ask. */
export function useDesk() {
  const { worker, start } = useWorkers();
  const mcp = useMcp();
  return {
    folder: mcp.folder,
    /** A worker whose model makes these calls in its first answer, and what the server did. */
    desk: async (calls: Calls, { server = {}, worker: more = {}, agent = {}, config: others = {} }: DeskOptions = {}) => {
      const cwd = await mcp.folder();
      const LOG = join(cwd, 'log');
      const child = { command: process.execPath, args: [ASKING_SERVER], cwd, env: { LOG }, elicitation: true };
      // either a process or an address
      const definition = ('url' in server ? { elicitation: true, ...server } : { ...child, ...server }) as McpServer;
      const mcpServers = { desk: definition };
      const config: Config = {
        model: 'fake/model',
        providers: { fake: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:9' } },
        agents: { default: { description: 'Books.', prompt: 'Book.', ...agent } },
        mcpServers,
        ...others,
      };
      const make = async () => await worker({ config, mcpTools: mcp.open({ servers: mcpServers }), model: caller(calls), ...more });
      const on = await make();
      const logged = async (begin: string): Promise<string[]> =>
        (await readFile(LOG, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '' && line.startsWith(begin));
      return { on, make, logged, run: async (input: object = {}) => await start(on, input) };
    },
  };
}

/** The results that the model reads. */
export async function texts(run: TestRun): Promise<string[]> {
  return resultTexts(await run.messages());
}

function caller(calls: Calls) {
  return ({ messages }: ModelRequest): ModelAnswer => (messages.some(({ role }) => role === 'assistant') ? say('done') : call(...calls));
}
