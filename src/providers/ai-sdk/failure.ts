import { z } from 'zod';
import { objectOf } from '../contract/json-object.js';
import { ModelError, type ModelFailureType } from '../contract/model-error.js';
import { connectionError, errorIn, toModelError } from '../errors/classify-error.js';
import { withoutKeys } from '../errors/redact-key.js';
import { answerHeaders, requestIdIn } from '../http/response-headers.js';

/** The errors of the AI SDK that no server told, by name: its packages come in several copies, so that no class could be asked. */
const BY_NAME: Readonly<Record<string, ModelFailureType>> = {
  AI_LoadAPIKeyError: 'Model.Auth',
  AI_LoadSettingError: 'Model.BadRequest',
  AI_NoSuchModelError: 'Model.NotFound',
  AI_InvalidArgumentError: 'Model.BadRequest',
  AI_InvalidPromptError: 'Model.BadRequest',
  AI_UnsupportedFunctionalityError: 'Model.BadRequest',
  AI_EmptyResponseBodyError: 'Model.EmptyStream',
  AI_NoContentGeneratedError: 'Model.EmptyStream',
};

/** Errors whose messages quote what could not be read: a model's words, which belong in no error. */
const UNREADABLE: ReadonlySet<string> = new Set(['AI_JSONParseError', 'AI_TypeValidationError', 'AI_InvalidResponseDataError']);

/** Some packages tell of a cut themselves. */
const CUT = /^response stream ended without a finish reason/iu;

/** An error that tells of a server's answer, or of a request that had none. */
const ApiFacts = z.object({
  statusCode: z.number().optional(),
  responseHeaders: z.record(z.string(), z.string()).optional(),
  responseBody: z.string().optional(),
  url: z.string().optional(),
});

const KEY_HINT =
  "a worker keeps the keys of providers out of its environment: hand it over, languageModel: (modelId, { key, fetch }) => create…({ apiKey: key('env:NAME'), fetch })(modelId)";

/**
 * Turns what a model of the AI SDK threw, or an error part held, into a ModelError. Never throws. Of the SDK's error nothing is kept but
 * what the server said: it holds the whole request.
 *
 * @param keys the keys that the config was handed; taken out of the message
 */
export function aiSdkError(error: unknown, keys: Iterable<string> = []): ModelError {
  return withoutKeys(classify(error), keys);
}

function classify(error: unknown): ModelError {
  const chain = causes(error);
  const own = chain.find((cause) => cause instanceof ModelError);
  if (own) return own;
  const names = chain.map((cause) => String(Reflect.get(cause, 'name')));
  const facts = chain.map((cause) => ApiFacts.safeParse(cause).data).find((found) => found?.statusCode ?? found?.url);
  const message = String(Reflect.get(chain[0] ?? {}, 'message') ?? 'the model request failed');
  const isRefusal = facts?.statusCode !== undefined && facts.statusCode >= 400;
  if (isRefusal) return refusal(message, facts);
  if (CUT.test(message)) return new ModelError('Model.StreamTruncated', 'the response ended before its finish');
  if (names.some((name) => UNREADABLE.has(name))) return unreadable();
  const named = names.map((name) => BY_NAME[name]).find((type) => type !== undefined);
  if (named) return new ModelError(named, named === 'Model.Auth' ? `${message} (${KEY_HINT})` : message);
  if (facts?.statusCode !== undefined && chain.length === 1) return unreadable();
  // with an address but no status: it was never reached
  if (facts && facts.statusCode === undefined) return connectionError(error);
  return toModelError(isPlainTelling(error) ? { error } : error);
}

function refusal(message: string, { statusCode, responseHeaders, responseBody = '' }: z.infer<typeof ApiFacts>): ModelError {
  const errorBody = errorIn(responseBody) ?? objectOf(responseBody);
  // some packages give a status to what they could not read themselves
  if (errorBody && UNREADABLE.has(String(Reflect.get(errorBody, 'name')))) return unreadable();
  const headers = answerHeaders(Object.entries(responseHeaders ?? {}));
  const requestId = requestIdIn(headers);
  return toModelError({
    status: statusCode,
    message,
    headers,
    ...(errorBody ? { error: errorBody } : {}),
    ...(requestId ? { requestID: requestId } : {}),
  });
}

function unreadable(): ModelError {
  return new ModelError('Model.BadResponse', 'the response contains data that cannot be read');
}

/** Error parts hold what the server sent, mostly as it is: `{ type, message }`, sometimes below `error`. */
function isPlainTelling(error: unknown): boolean {
  return error !== null && typeof error === 'object' && !(error instanceof Error) && !('error' in error);
}

/** The error and what caused it, outermost first. */
function causes(error: unknown): object[] {
  const chain: object[] = [];
  for (let at = error; at !== null && typeof at === 'object' && chain.length < 8; at = 'cause' in at ? at.cause : undefined) chain.push(at);
  return chain.length > 0 ? chain : [new Error(String(error))];
}
