import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '../../../support/use-workers.js';

/** A message that the server has. */
export interface PostedMessage {
  readonly ts: string;
  readonly channel: string;
  readonly thread: string | undefined;
  text: string;
  readonly key: string | undefined;
  edits: number;
}

/** How the next request of a method ends. `lost`: it has its effect, and its answer is lost. `held`: it has its effect, and no answer comes. */
export type Failure =
  | { readonly kind: 'error'; readonly error: string }
  | { readonly kind: 'status'; readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | { readonly kind: 'lost' | 'held' };

export const BOT_TOKEN = 'xoxb-test-bot-token-1234567890';
export const SIGNING_SECRET = 'test-signing-secret-8f14e45fceea167a';

/** A server with the part of Slack's Web API that the channel uses: real HTTP on loopback. */
export class SlackServer {
  readonly messages: PostedMessage[] = [];
  /** The methods that were called, in order. */
  readonly calls: string[] = [];
  readonly statuses: string[] = [];
  /** Requests whose answer is held back. */
  held = 0;
  readonly #failures = new Map<string, Failure[]>();
  readonly #server: Server;
  #ts = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#serve(request, response);
    });
  }

  static async start(): Promise<SlackServer> {
    const server = new SlackServer();
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/api/`;
  }

  /** The texts of a thread, or of a channel outside of threads, in order. */
  texts(channel: string, thread?: string): string[] {
    return this.messages.filter((message) => message.channel === channel && message.thread === thread).map(({ text }) => text);
  }

  failNext(method: string, ...failures: readonly Failure[]): void {
    this.#failures.set(method, [...(this.#failures.get(method) ?? []), ...failures]);
  }

  /** Adds messages of people. */
  add(channel: string, count: number, { at, thread }: { readonly at: number; readonly thread?: string }): void {
    for (let n = 1; n <= count; n += 1) {
      this.#ts += 1;
      const ts = `${Math.floor(at / 1_000)}.${String(this.#ts).padStart(6, '0')}`;
      this.messages.push({ ts, channel, thread, text: `message ${n}`, key: undefined, edits: 0 });
    }
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = (request.url ?? '').replace(/^\/api\//u, '');
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk as Uint8Array);
    const text = Buffer.concat(chunks).toString('utf8');
    const isJson = request.headers['content-type']?.startsWith('application/json');
    const body = (isJson ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text))) as Record<string, unknown>;
    this.calls.push(method);
    const failure = this.#failures.get(method)?.shift();
    if (failure?.kind === 'status') return void response.writeHead(failure.status, failure.headers).end(failure.body);
    const isKnown = request.headers.authorization === `Bearer ${BOT_TOKEN}`;
    const error = failure?.kind === 'error' ? failure.error : isKnown ? undefined : 'invalid_auth';
    const answer = error === undefined ? this.#answer(method, body) : { ok: false, error };
    if (failure?.kind === 'lost') return void request.socket.destroy();
    if (failure?.kind === 'held') {
      this.held += 1;
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }

  #answer(method: string, body: Record<string, unknown>): object {
    switch (method) {
      case 'chat.postMessage':
        return this.#post(body);
      case 'chat.update': {
        const found = this.messages.find(({ channel, ts }) => channel === body['channel'] && ts === body['ts']);
        if (!found) return { ok: false, error: 'message_not_found' };
        found.text = String(body['text']);
        found.edits += 1;
        return { ok: true, ts: found.ts };
      }
      case 'conversations.history':
      case 'conversations.replies':
        return this.#listed(body, method === 'conversations.history');
      case 'assistant.threads.setStatus':
        this.statuses.push(String(body['status']));
        return { ok: true };
      default:
        return { ok: false, error: 'unknown_method' };
    }
  }

  #post(body: Record<string, unknown>): object {
    this.#ts += 1;
    const ts = `${Math.floor(Date.now() / 1_000)}.${String(this.#ts).padStart(6, '0')}`;
    const { event_payload: payload } = (body['metadata'] ?? {}) as { event_payload?: { key?: string } };
    // the channel sends a text
    const thread = body['thread_ts'] as string | undefined;
    this.messages.push({ ts, channel: String(body['channel']), thread, text: String(body['text']), key: payload?.key, edits: 0 });
    return { ok: true, channel: body['channel'], ts };
  }

  /** A page: the newest messages of a channel come first, the oldest of a thread. */
  #listed(body: Record<string, unknown>, isChannel: boolean): object {
    const [limit, oldest, from] = [body['limit'] ?? 100, body['oldest'] ?? 0, body['cursor'] ?? 0].map(Number) as [number, number, number];
    const found = this.messages.filter(
      ({ channel, thread, ts }) => channel === body['channel'] && thread === body['ts'] && Number(ts) >= oldest,
    );
    const page = (isChannel ? found.toReversed() : found).slice(from, from + limit);
    return {
      ok: true,
      messages: page.map(({ ts, text, key }) => ({ ts, text, metadata: { event_type: 'perdure_message', event_payload: { key } } })),
      response_metadata: { next_cursor: from + limit < found.length ? String(from + limit) : '' },
    };
  }
}

/** The headers with which Slack signs a body. */
export function signed(body: string, { secret = SIGNING_SECRET, at = Math.floor(Date.now() / 1_000) } = {}): Record<string, string> {
  const signature = `v0=${createHmac('sha256', secret).update(`v0:${at}:${body}`).digest('hex')}`;
  return { 'content-type': 'application/json', 'x-slack-request-timestamp': String(at), 'x-slack-signature': signature };
}

/** An event of a direct message, as Slack sends it. */
export function directMessage(text: string, ts: string, more: object = {}): string {
  const event = { type: 'message', channel_type: 'im', channel: 'D1', user: 'U1', text, ts, ...more };
  return JSON.stringify({ type: 'event_callback', event_id: `Ev${ts}`, authorizations: [{ user_id: 'UBOT' }], event });
}

/** Waits until a conversation has these texts. */
export async function untilTexts(server: SlackServer, channel: string, texts: readonly string[], thread?: string): Promise<void> {
  const shown = (): string => JSON.stringify(server.texts(channel, thread));
  await until(() => shown() === JSON.stringify(texts), `texts ${JSON.stringify(texts)}`).catch((error: unknown) => {
    throw new Error(`${String(error)}; there are ${shown()}`);
  });
}
