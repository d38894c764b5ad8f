/** A request that the gateway refused, or that did not reach it (`status` 0). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The routes of the gateway, with the token of this tab. */
export class GatewayApi {
  readonly #token: string;

  constructor(token: string) {
    this.#token = token;
  }

  /** Reads a route. Throws ApiError. */
  async get<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
    return await this.#ask<Answer>(path, { method: 'GET', ...(signal ? { signal } : {}) });
  }

  /** Sends JSON to a route. Throws ApiError. */
  async post<Answer>(path: string, body?: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const content = body ? { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) } : { headers };
    return await this.#ask<Answer>(path, { method: 'POST', ...content });
  }

  /** Deletes what a route names. Throws ApiError. */
  async delete<Answer>(path: string): Promise<Answer> {
    return await this.#ask<Answer>(path, { method: 'DELETE' });
  }

  /** Opens a stream of events behind the event with the id `after`. Throws ApiError. Status 204: there are no events after it. */
  async open(path: string, { after, signal }: { readonly after: string | undefined; readonly signal: AbortSignal }): Promise<Response> {
    return await this.#fetch(path, { method: 'GET', signal, headers: after === undefined ? {} : { 'last-event-id': after } });
  }

  async #ask<Answer>(path: string, init: RequestInit): Promise<Answer> {
    const response = await this.#fetch(path, init);
    // each route answers with the JSON that its OpenAPI entry describes
    return (await response.json()) as Answer;
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${this.#token}`);
    const response = await fetch(path, { ...init, headers, cache: 'no-store' }).catch((cause: unknown) => {
      if (init.signal?.aborted) throw cause;
      throw new ApiError(0, 'UNREACHABLE', 'the gateway does not answer');
    });
    if (!response.ok) throw await refusalOf(response);
    return response;
  }
}

async function refusalOf(response: Response): Promise<ApiError> {
  const { status } = response;
  try {
    // the form of every error of the gateway; a proxy may answer in its own
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    return new ApiError(status, error.code, error.message);
  } catch {
    return new ApiError(status, `HTTP_${status}`, 'the gateway, or a proxy in front of it, refused the request');
  }
}

/** True for an error that a later attempt may not have: no connection, too many requests, a gateway that starts or ends. */
export function isPassing(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500);
}

/** The path of a run: its id is one segment. */
export function runPath(runId: string): string {
  return `/v1/runs/${encodeURIComponent(runId)}`;
}

/** The path of a session: its key is one segment. */
export function sessionPath(key: string): string {
  return `/v1/sessions/${encodeURIComponent(key)}`;
}

/** A new id for a message, so that a message that is sent twice arrives once. */
export function newMessageId(): string {
  // randomUUID exists only on pages that came over TLS, or from this machine
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `page-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
