import { request } from 'node:http';

/** One server-sent event. */
export interface ServerEvent {
  readonly id: string;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** An answer with its JSON. */
export interface JsonAnswer {
  readonly status: number;
  readonly headers: Headers;
  // what each route answers, the test knows
  readonly body: Record<string, unknown>;
}

/** How a request differs from a plain one. */
export interface AskOptions {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** A client of the gateway with a token: plain HTTP, as any program would speak it. */
export class GatewayClient {
  readonly url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.url = url;
    this.#token = token;
  }

  get authorization(): Record<string, string> {
    return { authorization: `Bearer ${this.#token}` };
  }

  async ask(path: string, { method, body, headers = {}, signal }: AskOptions = {}): Promise<JsonAnswer> {
    const hasBody = body !== undefined;
    const response = await fetch(new URL(path, this.url), {
      method: method ?? (hasBody ? 'POST' : 'GET'),
      headers: { ...this.authorization, ...(hasBody ? { 'content-type': 'application/json' } : {}), ...headers },
      ...(signal ? { signal } : {}),
      ...(hasBody ? { body: typeof body === 'string' ? body : JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> };
  }

  /** Starts a run and returns its id. */
  async start(input: object = {}, headers: Record<string, string> = {}): Promise<string> {
    const { status, body } = await this.ask('/v1/runs', { body: { task: 'do it', ...input }, headers });
    if (status !== 201) throw new Error(`not started: ${status} ${JSON.stringify(body)}`);
    return String(body['runId']);
  }

  /** Follows a stream of events, until it ends, its consumer stops, or the connection is lost. It throws when the signal aborts. */
  async *follow(path: string, lastEventId?: string, signal?: AbortSignal): AsyncGenerator<ServerEvent> {
    const leave = new AbortController();
    const response = await fetch(new URL(path, this.url), {
      headers: { ...this.authorization, ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) },
      signal: signal ? AbortSignal.any([leave.signal, signal]) : leave.signal,
    });
    if (response.status !== 200) throw new Error(`no stream: ${response.status} ${await response.text()}`);
    try {
      yield* readEvents(response.body ?? []);
    } finally {
      leave.abort();
    }
  }

  /** Follows a run to its end, from the event with an id on. */
  async events(runId: string, lastEventId?: string): Promise<ServerEvent[]> {
    const events: ServerEvent[] = [];
    for await (const event of this.follow(`/v1/runs/${encodeURIComponent(runId)}/events`, lastEventId)) events.push(event);
    return events;
  }
}

/** Reads server-sent events out of a stream of bytes. An event that is cut off is dropped, as browsers do. */
export async function* readEvents(bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of bytes) {
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]));
      const [id, event, data] = ['id', 'event', 'data'].map((name) => fields.get(name));
      if (id !== undefined && event !== undefined && data !== undefined)
        yield { id, event, data: JSON.parse(data) as Record<string, unknown> };
    }
  }
}

/** The status and the code of a request that `fetch` would not send. */
export async function rawAsk(
  url: string,
  {
    method = 'POST',
    path,
    headers = {},
    body = '',
  }: { method?: string; path: string; headers?: Record<string, string>; body?: string | Uint8Array },
): Promise<{ readonly status: number | undefined; readonly code: unknown }> {
  return await new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const asked = request({ hostname, port, path, method, headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.once('end', () => {
        const { error } = JSON.parse(text === '' ? '{}' : text) as { error?: { code?: unknown } };
        resolve({ status: response.statusCode, code: error?.code });
      });
    });
    // the server may close the connection while the body is still sent
    asked.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') reject(error);
    });
    asked.end(body);
  });
}
