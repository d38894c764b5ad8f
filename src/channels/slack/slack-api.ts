import { z } from 'zod';
import { CHANNEL_LIMITS } from '../../contracts/constants/limits.js';
import { ChannelError, type ChannelErrorKind } from '../contract/channel-error.js';

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

/** Errors that an operator must end. */
const UNAUTHORIZED: ReadonlySet<string> = new Set([
  'invalid_auth',
  'not_authed',
  'account_inactive',
  'token_revoked',
  'token_expired',
  'missing_scope',
  'no_permission',
  'access_denied',
  'ekm_access_denied',
  'not_allowed_token_type',
  'team_access_not_granted',
  'two_factor_setup_required',
]);

/**
 * Errors after which the same request never succeeds (https://docs.slack.dev/reference/methods/chat.postMessage, `chat.update` and
 * `conversations.*`). Any other error, also one that Slack adds later, may pass: a message is given up only for one of these.
 */
const REFUSED: ReadonlySet<string> = new Set([
  'as_user_not_supported',
  'block_mismatch',
  'cannot_reply_to_message',
  'cant_update_message',
  'channel_not_found',
  'channel_type_not_supported',
  'deprecated_endpoint',
  'edit_window_closed',
  'invalid_arg_name',
  'invalid_arguments',
  'invalid_array_arg',
  'invalid_blocks',
  'invalid_blocks_format',
  'invalid_channel',
  'invalid_charset',
  'invalid_form_data',
  'invalid_json',
  'invalid_metadata_format',
  'invalid_metadata_schema',
  'invalid_post_type',
  'invalid_thread_ts',
  'invalid_ts_oldest',
  'is_archived',
  'is_inactive',
  'json_not_object',
  'markdown_text_conflict',
  'message_not_found',
  'messages_tab_disabled',
  'metadata_too_large',
  'method_deprecated',
  'method_not_supported_for_channel_type',
  'missing_post_type',
  'msg_blocks_too_long',
  'msg_too_long',
  'no_text',
  'not_in_channel',
  'restricted_action',
  'restricted_action_non_threadable_channel',
  'restricted_action_read_only_channel',
  'restricted_action_thread_locked',
  'restricted_action_thread_only_channel',
  'thread_not_found',
  'too_many_attachments',
  'unknown_method',
]);

/** Errors of a limit: nothing happened. */
const LIMITED: ReadonlySet<string> = new Set(['rate_limited', 'ratelimited', 'message_limit_exceeded']);

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
    const failed = (kind: ChannelErrorKind, problem: string): ChannelError => {
      const retryAfterMs = retryAfterOf(response);
      return new ChannelError(kind, `${method}: ${problem}`, retryAfterMs === undefined ? {} : { retryAfterMs });
    };
    if (response.status === 429 || response.status >= 500) {
      await response.body?.cancel();
      throw response.status === 429 ? failed('rate-limited', 'rate limited') : failed('uncertain', `status ${response.status}`);
    }
    const answer = Answer.safeParse(parsed(await readText(method, response))).data;
    // such as the page of a proxy
    if (!answer) throw failed('uncertain', `status ${response.status}, no answer of Slack`);
    if (answer.ok) return answer;
    const error = (answer.error ?? 'unknown_error').slice(0, 100);
    throw failed(kindOf(error), error);
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

/** An error that is not known may have had its effect: the message is searched for before it is sent again. */
function kindOf(error: string): ChannelErrorKind {
  if (LIMITED.has(error)) return 'rate-limited';
  if (UNAUTHORIZED.has(error)) return 'unauthorized';
  return REFUSED.has(error) ? 'refused' : 'uncertain';
}

/** The wait of Retry-After, in seconds as Slack sends it. */
function retryAfterOf({ headers, status }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? (status === 429 ? '1' : 'none'));
  return Number.isFinite(seconds) && seconds >= 0 ? Math.max(seconds * 1_000, CHANNEL_LIMITS.retryMsMin) : undefined;
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
