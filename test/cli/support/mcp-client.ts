import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type CallToolResult, CallToolResultSchema, type Progress } from '@modelcontextprotocol/sdk/types.js';
import { afterEach } from 'vitest';
import { CliFolder } from './cli.js';

/** A tool that a person decides about, and that notes each of its calls in a file. */
const CONFIG = `
import { appendFileSync } from 'node:fs';
import { defineConfig, defineTool } from '${new URL('../../../src/define/index.ts', import.meta.url).href}';
import { z } from '${import.meta.resolve('zod')}';
export default defineConfig({
  model: 'scripted/script.json',
  tools: [defineTool({
    name: 'deploy',
    description: 'Deploys.',
    parameters: z.strictObject({ to: z.string() }),
    approval: 'always',
    execute: ({ to }) => { console.log('a line on stdout'); appendFileSync('deployed', to); return 'deployed to ' + to; },
  })],
});`;

const DEPLOY = { steps: [{ toolCalls: [{ name: 'deploy', args: { to: 'production' } }] }, { text: 'all done' }] };

/** Folders whose agent deploys what a person approves. They are removed after each test. */
export function useMcpFolders(): (script?: object) => Promise<CliFolder> {
  const folders: CliFolder[] = [];
  afterEach(async () => {
    for (const folder of folders.splice(0)) await folder.remove();
  });
  return async (script = DEPLOY) => {
    const folder = await CliFolder.make();
    folders.push(folder);
    await writeFile(join(folder.path, 'perdure.config.ts'), CONFIG);
    await writeFile(join(folder.path, 'script.json'), JSON.stringify(script));
    return folder;
  };
}

/** The official client, connected to `perdure mcp`. */
export class McpClient {
  readonly #client = new Client({ name: 'tester', version: '1.0.0' });
  readonly #transport: Transport;

  private constructor(transport: Transport) {
    this.#transport = transport;
  }

  static async over(transport: Transport): Promise<McpClient> {
    const client = new McpClient(transport);
    await client.#client.connect(transport);
    return client;
  }

  static async stdio(folder: CliFolder, ...args: readonly string[]): Promise<McpClient> {
    return await McpClient.over(new StdioClientTransport({ ...folder.program(['mcp', ...args]), stderr: 'ignore' }));
  }

  /** The process of the server, over stdio. */
  get pid(): number {
    const pid = this.#transport instanceof StdioClientTransport ? this.#transport.pid : null;
    if (pid === null) throw new Error('no process');
    return pid;
  }

  async tools(): Promise<string[]> {
    return (await this.#client.listTools()).tools.map(({ name }) => name);
  }

  /** The structured result of a call, which its text repeats. */
  async call(
    name: string,
    args: Record<string, unknown> = {},
    onprogress?: (progress: Progress) => void,
  ): Promise<Record<string, unknown>> {
    const { isError, text, structured } = await this.#call(name, args, onprogress);
    if (isError) throw new Error(text);
    return structured;
  }

  /** The line of a call that fails. */
  async fails(name: string, args: Record<string, unknown>): Promise<string> {
    const { isError, text } = await this.#call(name, args);
    if (!isError) throw new Error(`did not fail: ${text}`);
    return text;
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  async #call(name: string, args: Record<string, unknown>, onprogress?: (progress: Progress) => void) {
    const result: CallToolResult = await this.#client.request(
      { method: 'tools/call', params: { name, arguments: args } },
      CallToolResultSchema,
      { timeout: 60_000, ...(onprogress ? { onprogress } : {}) },
    );
    const [content] = result.content;
    const text = content?.type === 'text' ? content.text : '';
    return { isError: result.isError === true, text, structured: result.structuredContent ?? {} };
  }
}
