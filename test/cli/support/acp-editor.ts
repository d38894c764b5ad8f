import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import {
  type ClientCapabilities,
  type ClientConnection,
  type ContentBlock,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  client,
  methods,
  ndJsonStream,
  type RequestPermissionRequest,
  type SessionUpdate,
  type StopReason,
} from '@agentclientprotocol/sdk';
import { until } from '../../support/use-workers.js';
import type { CliFolder } from './cli.js';

/** What the user of an editor does. */
export interface EditorUser {
  /** The button that is pressed; undefined: none, until the question is withdrawn. @default the first one */
  readonly choose?: (request: RequestPermissionRequest) => string | undefined;
  /** Fills in a form. @default the editor shows none */
  readonly fill?: (request: CreateElicitationRequest) => CreateElicitationResponse;
}

/** The official client, as an editor uses it: it shows what it gets, and its user answers questions. */
export class AcpEditor {
  /** All updates, in the order of their arrival. */
  readonly updates: SessionUpdate[] = [];
  /** What the user was asked. */
  readonly asked: RequestPermissionRequest[] = [];
  /** The questions that were withdrawn. */
  withdrawn = 0;
  readonly #connection: ClientConnection;
  readonly #capabilities: ClientCapabilities;

  private constructor(input: Writable, output: Readable, { choose = (request) => request.options[0]?.optionId, fill }: EditorUser) {
    this.#capabilities = fill ? { elicitation: { form: {} } } : {};
    const { session, elicitation } = methods.client;
    const app = client({ name: 'tester' })
      .onNotification(session.update, ({ params }) => void this.updates.push(params.update))
      .onRequest(session.requestPermission, async ({ params, signal }) => {
        this.asked.push(params);
        const optionId = choose(params);
        if (optionId !== undefined) return { outcome: { outcome: 'selected', optionId } };
        if (!signal.aborted) await once(signal, 'abort');
        this.withdrawn += 1;
        return { outcome: { outcome: 'cancelled' } };
      });
    if (fill) app.onRequest(elicitation.create, ({ params }) => fill(params));
    // web streams of Node and of the DOM differ in name only
    const written = Writable.toWeb(input) as WritableStream<Uint8Array>;
    const read = Readable.toWeb(output) as ReadableStream<Uint8Array>;
    this.#connection = app.connect(ndJsonStream(written, read));
  }

  /** Connects over two streams, and initializes. */
  static async over(input: Writable, output: Readable, user: EditorUser = {}): Promise<AcpEditor> {
    const editor = new AcpEditor(input, output, user);
    const { agentCapabilities } = await editor.#connection.agent.request(methods.agent.initialize, {
      protocolVersion: 1,
      clientInfo: { name: 'tester', version: '1' },
      clientCapabilities: editor.#capabilities,
    });
    if (agentCapabilities?.loadSession !== true) throw new Error('the agent loads no sessions');
    return editor;
  }

  /** Opens a conversation in a folder. */
  async open(cwd: string): Promise<string> {
    return (await this.#connection.agent.request(methods.agent.session.new, { cwd, mcpServers: [] })).sessionId;
  }

  async load(sessionId: string, cwd: string): Promise<void> {
    await this.#connection.agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
  }

  async prompt(sessionId: string, prompt: string | ContentBlock[], signal?: AbortSignal): Promise<StopReason> {
    const blocks: ContentBlock[] = typeof prompt === 'string' ? [{ type: 'text', text: prompt }] : prompt;
    const options = signal ? { cancellationSignal: signal } : {};
    return (await this.#connection.agent.request(methods.agent.session.prompt, { sessionId, prompt: blocks }, options)).stopReason;
  }

  async cancel(sessionId: string): Promise<void> {
    await this.#connection.agent.notify(methods.agent.session.cancel, { sessionId });
  }

  /** Any request, for what the other methods do not send. */
  async request(method: string, params: unknown): Promise<unknown> {
    return await this.#connection.agent.request(method, params);
  }

  /** The line of a request that fails. */
  async fails(request: Promise<unknown>): Promise<string> {
    const error: unknown = await request.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!(error instanceof Error)) throw new Error('did not fail');
    return error.message;
  }

  /** The messages that the editor shows: who speaks, and the text of all chunks with one id. */
  get messages(): string[] {
    const shown: { id: string; text: string }[] = [];
    for (const update of this.updates) {
      if (!('messageId' in update) || !('content' in update) || Array.isArray(update.content) || update.content?.type !== 'text') continue;
      const who = update.sessionUpdate.replace(/_chunk$/u, '');
      const id = `${who} ${update.messageId ?? ''}`;
      const last = shown.at(-1);
      if (last?.id === id) last.text += update.content.text;
      else shown.push({ id, text: `${who}: ${update.content.text}` });
    }
    return shown.map(({ text }) => text);
  }

  /** What the editor shows of a tool's call: all its updates together. */
  call(name: string): Record<string, unknown> {
    const first = this.updates.find((update) => update.sessionUpdate === 'tool_call' && update.name === name);
    if (first?.sessionUpdate !== 'tool_call') throw new Error(`no call of ${name}`);
    const { toolCallId } = first;
    const all = this.updates.filter((update) => 'toolCallId' in update && update.toolCallId === toolCallId);
    return Object.assign({}, ...all) as Record<string, unknown>;
  }

  /** Waits until a message is shown. */
  async sees(message: string): Promise<void> {
    await until(() => this.messages.includes(message), `${message}, shown`, 60_000).catch((error: unknown) => {
      throw new Error(this.messages.join('\n'), { cause: error });
    });
  }

  /** Leaves, without a word to the agent. */
  close(): void {
    this.#connection.close();
  }
}

/** An editor that started `perdure acp`. */
export interface StartedEditor {
  readonly editor: AcpEditor;
  /** Ends the input of the command. Resolves with its exit status. */
  readonly end: () => Promise<number | null>;
  /** Kills the command. */
  readonly kill: () => Promise<void>;
  readonly stderr: () => string;
}

/** Starts `perdure acp` in a folder, as an editor does. */
export async function startEditor(folder: CliFolder, args: readonly string[] = [], user: EditorUser = {}): Promise<StartedEditor> {
  const { command, args: all, cwd, env } = folder.program(['acp', ...args]);
  const child = spawn(command, all, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  // a killed command reads nothing more
  child.stdin.on('error', () => undefined);
  const closed = once(child, 'close');
  const editor = await AcpEditor.over(child.stdin, child.stdout, user);
  return {
    editor,
    stderr: () => stderr,
    async end() {
      child.stdin.end();
      await closed;
      return child.exitCode;
    },
    async kill() {
      child.kill('SIGKILL');
      await closed;
      editor.close();
    },
  };
}
