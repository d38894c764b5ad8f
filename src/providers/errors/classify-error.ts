import { objectOf } from '../contract/json-object.js';
import { ModelError, type ModelFailureType } from '../contract/model-error.js';
import { LOWER_OUTPUT_PATTERNS, typeFromMessage } from './error-patterns.js';
import { hideKey } from './redact-key.js';
import { retryAfterMs, retryDelayMs } from './retry-delay.js';

/** HTTP status → failure. What is not here: 4xx is a bad request, 5xx is overload. */
const BY_STATUS: Readonly<Record<number, ModelFailureType>> = {
  401: 'Model.Auth',
  402: 'Model.Quota',
  403: 'Model.Auth',
  404: 'Model.NotFound',
  408: 'Model.Timeout',
  409: 'Model.Overloaded',
  413: 'Model.ContextOverflow',
  // Bedrock's, and that of servers before a model: it failed while it answered
  424: 'Model.Overloaded',
  429: 'Model.RateLimited',
  // Groq's own, when it has no room
  498: 'Model.Overloaded',
  499: 'Model.Timeout',
  504: 'Model.Timeout',
};

/** The error types of bodies and of in-stream error events; an in-stream error is classed as its HTTP status would be. */
const BY_ERROR_TYPE: Readonly<Record<string, ModelFailureType>> = {
  api_error: 'Model.Overloaded',
  server_error: 'Model.Overloaded',
  overloaded_error: 'Model.Overloaded',
  rate_limit_error: 'Model.RateLimited',
  rate_limit_exceeded: 'Model.RateLimited',
  throttlingException: 'Model.RateLimited',
  tokens: 'Model.RateLimited',
  requests: 'Model.RateLimited',
  // llama.cpp while it loads its model, which takes longer than three attempts
  unavailable_error: 'Model.Unreachable',
  timeout_error: 'Model.Timeout',
  modelTimeoutException: 'Model.Timeout',
  insufficient_quota: 'Model.Quota',
  billing_error: 'Model.Quota',
  billing_hard_limit_reached: 'Model.Quota',
  billing_not_active: 'Model.Quota',
  credit_balance_exhausted: 'Model.Quota',
  organization_usage_limit_exceeded: 'Model.Quota',
  organization_spend_limit_exceeded: 'Model.Quota',
  project_spend_limit_exceeded: 'Model.Quota',
  blocked_api_access: 'Model.Quota',
  authentication_error: 'Model.Auth',
  permission_error: 'Model.Auth',
  invalid_api_key: 'Model.Auth',
  invalid_request_error: 'Model.BadRequest',
  validationException: 'Model.BadRequest',
  not_found_error: 'Model.NotFound',
  model_not_found: 'Model.NotFound',
  model_decommissioned: 'Model.NotFound',
  context_length_exceeded: 'Model.ContextOverflow',
  request_too_large: 'Model.ContextOverflow',
  content_filter: 'Model.ContentFilter',
  content_policy_violation: 'Model.ContentFilter',
  image_content_policy_violation: 'Model.ContentFilter',
  invalid_prompt: 'Model.ContentFilter',
  bio_policy: 'Model.ContentFilter',
  cyber_policy: 'Model.ContentFilter',
  invalid_image: 'Model.BadRequest',
  invalid_image_format: 'Model.BadRequest',
  invalid_image_mode: 'Model.BadRequest',
  invalid_image_url: 'Model.BadRequest',
  invalid_base64_image: 'Model.BadRequest',
  image_too_large: 'Model.BadRequest',
  image_too_small: 'Model.BadRequest',
  image_parse_error: 'Model.BadRequest',
  image_file_too_large: 'Model.BadRequest',
  image_file_not_found: 'Model.BadRequest',
  unsupported_image_media_type: 'Model.BadRequest',
  empty_image_file: 'Model.BadRequest',
  failed_to_download_image: 'Model.BadRequest',
  invalid_encrypted_content: 'Model.BadRequest',
  tool_use_failed: 'Model.BadJson',
};

/** Codes of the socket and of undici. Not reached: the request may be repeated; broken off: the answer was cut. */
const BY_SOCKET_CODE: Readonly<Record<string, ModelFailureType>> = {
  ECONNREFUSED: 'Model.Unreachable',
  ENOTFOUND: 'Model.Unreachable',
  EAI_AGAIN: 'Model.Unreachable',
  EHOSTUNREACH: 'Model.Unreachable',
  ENETUNREACH: 'Model.Unreachable',
  ETIMEDOUT: 'Model.Unreachable',
  UND_ERR_CONNECT_TIMEOUT: 'Model.Unreachable',
  ECONNRESET: 'Model.StreamTruncated',
  EPIPE: 'Model.StreamTruncated',
  UND_ERR_SOCKET: 'Model.StreamTruncated',
  UND_ERR_ABORTED: 'Model.StreamTruncated',
};

/** What was thrown before there was any answer: the server was not reached, unless the socket's code says that it hung up. */
export function connectionError(error: unknown): ModelError {
  const classed = toModelError(error);
  const isGuess =
    classed.type === 'Model.StreamTruncated' && !causes(error).some((cause) => failureBy(BY_SOCKET_CODE, textIn(cause, 'code') ?? ''));
  return isGuess ? new ModelError('Model.Unreachable', classed.message) : classed;
}

/**
 * Turns whatever an SDK, the socket or our own checks threw into a ModelError. Never throws; keeps a ModelError as it is. The key is
 * taken out of the message, whole or in parts, and the SDK's error is not kept as cause: it holds the whole body.
 */
export function toModelError(error: unknown, apiKey = ''): ModelError {
  const chain = causes(error);
  const own = chain.find((cause) => cause instanceof ModelError);
  if (own) return own;
  const facts = readFacts(chain);
  const type = classify(facts);
  return new ModelError(type, hideKey(facts.message, apiKey), {
    ...(facts.status === undefined ? {} : { status: facts.status }),
    ...requestIdOf(chain),
    ...retryOf(chain, facts),
    ...hintOf(type, facts.message),
  });
}

/** A server may answer with megabytes; what an error says, it says at its beginning. */
const MESSAGE_CHARS_READ = 8_000;

/** The error that a JSON body tells of, as servers send it with status 200 in place of a stream; undefined when there is none. */
export function errorIn(body: string): object | undefined {
  const told = objectOf(body);
  return told && toldIn(told);
}

interface ErrorFacts {
  readonly bodies: readonly object[];
  readonly status: number | undefined;
  readonly types: readonly string[];
  readonly codes: readonly string[];
  readonly message: string;
  readonly isSyntax: boolean;
  /** The server told of the error itself. */
  readonly isTold: boolean;
}

/** What a body tells of that no status does. */
const TELLING_TYPES: ReadonlySet<ModelFailureType> = new Set([
  'Model.Unreachable',
  'Model.Quota',
  'Model.NotFound',
  'Model.ContextOverflow',
  'Model.ContentFilter',
  'Model.BadJson',
]);

function classify({ status, types, codes, message, isSyntax, isTold }: ErrorFacts): ModelFailureType {
  const byType = types.map((type) => failureBy(BY_ERROR_TYPE, type)).filter((type) => type !== undefined);
  // a body may say more than its status: 429 for a spent quota, 400 for a request that is too long or a model that is no more
  const special = byType.find((type) => TELLING_TYPES.has(type));
  if (special) return special;
  const told = typeFromMessage(message, status);
  if (told) return told;
  if (status !== undefined) return BY_STATUS[status] ?? (status >= 500 ? 'Model.Overloaded' : 'Model.BadRequest');
  const [first] = byType;
  if (first) return first;
  if (isTold) return 'Model.Overloaded';
  // an event that is no JSON, or a server that does not speak HTTP
  if (isSyntax || codes.some((code) => code.startsWith('HPE_'))) return 'Model.BadResponse';
  return codes.map((code) => failureBy(BY_SOCKET_CODE, code)).find((type) => type !== undefined) ?? 'Model.StreamTruncated';
}

/** What a table says of a server's word, which may be a name that every object has. */
function failureBy(table: Readonly<Record<string, ModelFailureType>>, word: string): ModelFailureType | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}

function readFacts(chain: readonly object[]): ErrorFacts {
  const bodies = chain.flatMap((cause) => bodiesIn(cause));
  const statuses = [...chain.map((cause) => numberIn(cause, 'status')), ...bodies.map((body) => statusCodeIn(body))];
  return {
    bodies,
    status: statuses.find((value) => value !== undefined),
    // a code says more than the type beside it
    types: [...chain, ...bodies].flatMap((part) => [textIn(part, 'code'), textIn(part, 'type')]).filter((text) => text !== undefined),
    codes: chain.map((cause) => textIn(cause, 'code')).filter((text) => text !== undefined),
    message: messageOf(chain, bodies),
    isSyntax: chain.some((cause) => cause instanceof SyntaxError),
    isTold: bodies.length > 0 || chain.some((cause) => textIn(cause, 'type') !== undefined),
  };
}

/** An SDK's error holds the parsed body as `error`, which may hold another `error`; the last says most. */
function bodiesIn(cause: object): object[] {
  const outer = toldIn(cause);
  const inner = outer && toldIn(outer);
  const told = [outer, inner].filter((body) => body !== undefined);
  return [...told, ...told.flatMap((body) => passedOn(body) ?? [])];
}

/** An error is an object mostly, and a text alone of xAI and others. */
function toldIn(from: object): object | undefined {
  const text = textIn(from, 'error');
  return text ? { message: text } : objectIn(from, 'error');
}

/** Of a router that says nothing itself, as OpenRouter: what the server behind it said. */
function passedOn(body: object): object | undefined {
  const metadata = objectIn(body, 'metadata');
  const raw = metadata && textIn(metadata, 'raw');
  if (!raw) return undefined;
  const told = objectOf(raw);
  return told ? (toldIn(told) ?? told) : { message: raw };
}

/** Gateways tell of a status within a stream as a code. */
function statusCodeIn(body: object): number | undefined {
  const code = numberIn(body, 'code');
  return code !== undefined && code >= 400 && code <= 599 ? code : undefined;
}

function messageOf(chain: readonly object[], bodies: readonly object[]): string {
  // the parser quotes what it could not read: a model's words, which belong in no error
  if (chain.some((cause) => cause instanceof SyntaxError)) return 'the stream contains an event that is not JSON';
  const said = bodies.map((body) => textIn(body, 'message')).findLast((text) => text !== undefined);
  const texts = chain.map((cause) => textIn(cause, 'message')).filter((text) => text !== undefined && text !== '');
  const message = said ?? (texts.length > 0 ? texts.join(': ') : 'the model request failed');
  return message.slice(0, MESSAGE_CHARS_READ);
}

function requestIdOf(chain: readonly object[]): { requestId?: string } {
  const requestId = chain.map((cause) => textIn(cause, 'requestID') ?? textIn(cause, 'request_id')).find((id) => id !== undefined);
  return requestId === undefined ? {} : { requestId };
}

function retryOf(chain: readonly object[], { bodies, message }: ErrorFacts): { retryAfterMs?: number } {
  const headers = chain.map((cause) => ('headers' in cause ? cause.headers : undefined)).find((found) => found instanceof Headers);
  const delayMs = (headers && retryAfterMs(headers, Date.now())) ?? retryDelayMs(bodies, message, Date.now());
  return delayMs === undefined ? {} : { retryAfterMs: delayMs };
}

function hintOf(type: ModelFailureType, message: string): { hint?: 'lower-output' } {
  const isForOutput = type === 'Model.ContextOverflow' && LOWER_OUTPUT_PATTERNS.some((pattern) => pattern.test(message));
  return isForOutput ? { hint: 'lower-output' } : {};
}

/** The error and what caused it, outermost first. */
function causes(error: unknown): object[] {
  const chain: object[] = [];
  for (let at = error; at !== null && typeof at === 'object' && chain.length < 8; at = 'cause' in at ? at.cause : undefined) chain.push(at);
  return chain.length > 0 ? chain : [new Error(String(error))];
}

function textIn(from: object, key: string): string | undefined {
  const value: unknown = Reflect.get(from, key);
  return typeof value === 'string' ? value : undefined;
}

function numberIn(from: object, key: string): number | undefined {
  const value: unknown = Reflect.get(from, key);
  return typeof value === 'number' ? value : undefined;
}

function objectIn(from: object, key: string): object | undefined {
  const value: unknown = Reflect.get(from, key);
  return value !== null && typeof value === 'object' ? value : undefined;
}
