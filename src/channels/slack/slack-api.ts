import { z } from 'zod';
import { CHANNEL_LIMITS } from '../../contracts/constants/limits.js';
import { ChannelError } from '../contract/channel-error.js';

/** Options of `SlackApi`. */
export interface SlackApiOptions {
  /** The token of the bot. Called for each request, so that a replaced token needs no restart. Throws if there is none. */
  readonly token: () => string;
  /** @default https://slack.com/api/ */
  readonly apiUrl?: string;
}

const Answer = z.looseObject({ ok: z.boolean(), error: z.string().optional() });
type Answer = z.output<typeof Answer>;

interface Sent {
  readonly type: string;
  readonly body: string;
}

/** Errors after which the request may have had its effect. */
const UNCERTAIN = new Set(['fatal_error', 'internal_error', 'service_unavailable', 'request_timeout']);

/** Errors that an operator must end. */
const UNAUTHORIZED = new Set([
  'invalid_auth',
  'not_authed',
  'account_inactive',
  'token_revoked',
  'token_expired',
  'missing_scope',
  'not_allowed_token_type',
]);

/** The Web API of Slack. Each method is one request, which is not repeated. Throws ChannelError. */
export class SlackApi {
  readonly #token: () => string;
  readonly #url: URL;

  constructor({ token, apiUrl = 'https://slack.com/api/' }: SlackApiOptions) {
    this.#token = token;
    this.#url = new URL(apiUrl.endsWith('/') ? apiUrl : `${apiUrl}/`);
  }

  /** Calls a method that writes, with a JSON body. */
  async call(method: string, body: object, signal: AbortSignal): Promise<Answer> {
    return await this.#call(method, { type: 'application/json; charset=utf-8', body: JSON.stringify(body) }, signal);
  }

  /** Calls a method that reads, which takes no JSON. */
  async read(method: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Answer> {
    return await this.#call(method, { type: 'application/x-www-form-urlencoded', body: new URLSearchParams(query).toString() }, signal);
  }

  async #call(method: string, sent: Sent, signal: AbortSignal): Promise<Answer> {
    const timeout = AbortSignal.timeout(CHANNEL_LIMITS.requestTimeoutMs);
    const response = await this.#request(method, sent, AbortSignal.any([signal, timeout]));
    if (response.status === 429) {
      await response.body?.cancel();
      const seconds = Number(response.headers.get('retry-after') ?? '1');
      const retryAfterMs = Number.isFinite(seconds) && seconds >= 0 ? Math.max(seconds * 1_000, CHANNEL_LIMITS.retryMsMin) : undefined;
      throw new ChannelError('rate-limited', `${method}: rate limited`, retryAfterMs === undefined ? {} : { retryAfterMs });
    }
    if (response.status >= 500) {
      await response.body?.cancel();
      throw new ChannelError('uncertain', `${method}: status ${response.status}`);
    }
    return accepted(method, response.status, await readText(method, response));
  }

  async #request(method: string, { type, body }: Sent, signal: AbortSignal): Promise<Response> {
    const headers = { authorization: `Bearer ${this.#bearer()}`, 'content-type': type };
    try {
      return await fetch(new URL(method, this.#url), { method: 'POST', headers, body, redirect: 'error', signal });
    } catch (cause) {
      throw new ChannelError(wasRefused(cause) ? 'unavailable' : 'uncertain', `${method}: ${causeOf(cause)}`, { cause });
    }
  }

  #bearer(): string {
    try {
      return this.#token();
    } catch (cause) {
      throw new ChannelError('unauthorized', cause instanceof Error ? cause.message : 'no token', { cause });
    }
  }
}

async function readText(method: string, response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > CHANNEL_LIMITS.answerBytesMax) throw new Error('the answer is too large');
      chunks.push(chunk);
    }
  } catch (cause) {
    throw new ChannelError('uncertain', `${method}: ${causeOf(cause)}`, { cause });
  }
  return Buffer.concat(chunks).toString('utf8');
}

function accepted(method: string, status: number, text: string): Answer {
  const answer = Answer.safeParse(parsed(text)).data;
  if (!answer) throw new ChannelError(status >= 400 ? 'refused' : 'uncertain', `${method}: status ${status}, no answer of Slack`);
  if (answer.ok) return answer;
  const error = (answer.error ?? 'unknown_error').slice(0, 100);
  if (error === 'ratelimited') throw new ChannelError('rate-limited', `${method}: ${error}`);
  if (UNCERTAIN.has(error)) throw new ChannelError('uncertain', `${method}: ${error}`);
  throw new ChannelError(UNAUTHORIZED.has(error) ? 'unauthorized' : 'refused', `${method}: ${error}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** True if the request did not reach the server. */
function wasRefused(error: unknown): boolean {
  return ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'].includes(codeOf(error));
}

function causeOf(error: unknown): string {
  if (error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError')) return 'no answer in time';
  const code = codeOf(error);
  return code === '' ? 'the connection was lost' : code;
}

function codeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : '';
}
