import { randomUUID } from 'node:crypto';
import {
  type AgentApp,
  type AgentContext,
  type AgentRequestContext,
  agent,
  type InitializeRequest,
  type InitializeResponse,
  type LoadSessionRequest,
  methods,
  type NewSessionRequest,
  type NewSessionResponse,
  PROTOCOL_VERSION,
  type PromptRequest,
  type PromptResponse,
  RequestError,
} from '@agentclientprotocol/sdk';
import { GATEWAY_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { acpError, unknownSession } from './acp-error.js';
import type { AcpDoor } from './door.js';
import type { Editor } from './editor.js';
import { EditorSession } from './editor-session.js';
import { PROMPT_CAPABILITIES } from './prompt-content.js';

/** Options of `createAcpAgent`. */
export interface AcpAgentOptions {
  readonly door: AcpDoor;
  /** Ends all sessions. Their runs continue. */
  readonly ending: AbortSignal;
  /** Called with each request, so that the end of the server can wait for its answer. */
  readonly track: <T>(request: Promise<T>) => Promise<T>;
  readonly say: (line: string) => void;
}

/** The agent of one editor. Each of its sessions is a durable session, and each prompt a run. An error is an answer `CODE: message`. */
export function createAcpAgent(options: AcpAgentOptions): AgentApp {
  const server = new AcpServer(options);
  const answer =
    <Params, Answer>(handle: (context: AgentRequestContext<Params>) => Promise<Answer>) =>
    async (context: AgentRequestContext<Params>): Promise<Answer> => {
      try {
        return await options.track(handle(context));
      } catch (error) {
        throw acpError(error);
      }
    };
  return agent({ name: 'perdure' })
    .onRequest(
      methods.agent.initialize,
      answer(async ({ params }) => await Promise.resolve(server.initialize(params))),
    )
    .onRequest(
      methods.agent.session.new,
      answer(({ params, client }) => server.open(params, client)),
    )
    .onRequest(
      methods.agent.session.load,
      answer(({ params, client }) => server.load(params, client)),
    )
    .onRequest(
      methods.agent.session.prompt,
      answer(({ params, signal }) => server.prompt(params, signal)),
    )
    .onNotification(methods.agent.session.cancel, ({ params }) => server.cancel(params.sessionId));
}

/** The sessions of one editor. */
class AcpServer {
  readonly #options: AcpAgentOptions;
  readonly #sessions = new Map<string, EditorSession>();
  #name = 'acp:editor';
  #hasForms = false;

  constructor(options: AcpAgentOptions) {
    this.#options = options;
  }

  initialize({ clientInfo, clientCapabilities }: InitializeRequest): InitializeResponse {
    this.#name = `acp:${(clientInfo?.name ?? 'editor').slice(0, NAME_CHARS_MAX)}`;
    this.#hasForms = Boolean(clientCapabilities?.elicitation?.form);
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'perdure', title: 'Perdure', version: this.#options.door.version },
      agentCapabilities: { loadSession: true, promptCapabilities: PROMPT_CAPABILITIES },
      authMethods: [],
    };
  }

  async open({ cwd, mcpServers }: NewSessionRequest, client: AgentContext): Promise<NewSessionResponse> {
    const { door } = this.#options;
    const workspace = await door.workspaceOf(absolute(cwd));
    await door.sessionOptions(workspace);
    this.#reportServers(mcpServers);
    const sessionId = `acp-${randomUUID()}`;
    this.#add(sessionId, workspace, client);
    return { sessionId };
  }

  async load({ sessionId, cwd, mcpServers }: LoadSessionRequest, client: AgentContext): Promise<Record<string, never>> {
    const workspace = await this.#options.door.workspaceOf(absolute(cwd));
    this.#reportServers(mcpServers);
    this.#sessions.get(sessionId)?.close();
    this.#sessions.delete(sessionId);
    const session = this.#add(sessionId, workspace, client);
    try {
      await session.replay();
      return {};
    } catch (error) {
      session.close();
      this.#sessions.delete(sessionId);
      const isUnknown = error instanceof PerdureError && (error.code === 'NO_SESSION' || error.code === 'BAD_SESSION_ID');
      throw isUnknown ? unknownSession(sessionId) : error;
    }
  }

  async prompt({ sessionId, prompt }: PromptRequest, signal: AbortSignal): Promise<PromptResponse> {
    const session = this.#sessions.get(sessionId);
    if (!session) throw unknownSession(sessionId);
    return { stopReason: await session.prompt(prompt, cancelOf(signal)) };
  }

  cancel(sessionId: string): void {
    this.#sessions.get(sessionId)?.cancel();
  }

  #add(sessionId: string, workspace: string, client: AgentContext): EditorSession {
    const { door, ending, say } = this.#options;
    if (this.#sessions.size >= GATEWAY_LIMITS.editorSessionsMax)
      throw new PerdureError('TOO_MANY_SESSIONS', `this process has ${this.#sessions.size} open sessions; start another one`, 4);
    const session = new EditorSession({
      reach: () => door.reach(),
      key: sessionId,
      sessionOptions: () => door.sessionOptions(workspace),
      editor: this.#editor(sessionId, client),
      workspace,
      keepRunning: () => door.keepRunning(),
      ending,
      say,
    });
    this.#sessions.set(sessionId, session);
    return session;
  }

  #editor(sessionId: string, client: AgentContext): Editor {
    const { session, elicitation } = methods.client;
    return {
      name: this.#name,
      hasForms: this.#hasForms,
      update: (update) => client.notify(session.update, { sessionId, update }),
      choose: async (request, signal) =>
        (await client.request(session.requestPermission, { ...request, sessionId }, withdrawnBy(signal))).outcome,
      complete: (form, signal) => client.request(elicitation.create, { ...form, mode: 'form', sessionId }, withdrawnBy(signal)),
    };
  }

  /** Servers of the editor would run beside the sandbox and the gates of the config. */
  #reportServers(servers: readonly { readonly name: string }[]): void {
    if (servers.length === 0) return;
    const names = servers.map(({ name }) => echoValue(name)).join(', ');
    this.#options.say(`MCP servers of the editor are not used: ${names}; add them to mcpServers of the config`);
  }
}

/** What the name of an editor has at most, as other operators see it. */
const NAME_CHARS_MAX = 60;

function absolute(cwd: string): string {
  if (!cwd.startsWith('/') && !/^[A-Za-z]:[\\/]/u.test(cwd))
    throw new PerdureError('WORKSPACE', `cwd must be an absolute path, got ${echoValue(cwd)}`, 2);
  return cwd;
}

/** Aborts when the editor cancels the request, not when it leaves. */
function cancelOf(request: AbortSignal): AbortSignal {
  const cancel = new AbortController();
  const onAbort = (): void => {
    if (request.reason instanceof RequestError && request.reason.code === REQUEST_CANCELLED) cancel.abort();
  };
  request.addEventListener('abort', onAbort, { once: true });
  return cancel.signal;
}

const REQUEST_CANCELLED = -32800;

/** Withdraws a question from the editor when the signal aborts, without waiting for its answer. */
function withdrawnBy(cancellationSignal: AbortSignal): { readonly cancellationSignal: AbortSignal; readonly stopWaitingOnCancel: true } {
  return { cancellationSignal, stopWaitingOnCancel: true };
}
