import type { AccessOptions } from '../contract/access-options.js';
import { ModelError } from '../contract/model-error.js';
import type { ModelAnswer, ModelRequest } from '../contract/provider.js';
import { withoutKeys } from '../errors/redact-key.js';
import { orAbort } from '../http/abortable.js';
import { type AnthropicEndpoint, callAnthropic } from './call.js';

/** Whom a call of Claude on another cloud goes to. */
export interface CloudEndpoint extends Pick<AnthropicEndpoint, 'client' | 'guard' | 'account'> {
  /** Kept out of errors. */
  readonly secrets: readonly string[];
}

/** Asks Claude on another cloud: the same body and answer as of the messages API, by the cloud's own client. */
export async function callAnthropicCloud(request: ModelRequest, { secrets, ...endpoint }: CloudEndpoint): Promise<ModelAnswer> {
  try {
    // a cloud may look for credentials for long before there is a request to abort
    return await orAbort(callAnthropic(request, { ...endpoint, apiKey: '' }), request.signal);
  } catch (error) {
    request.signal.throwIfAborted();
    throw error instanceof ModelError ? withoutKeys(toCloudError(error), secrets) : error;
  }
}

/** The value of a key's reference. Throws `Model.Auth` that names it when it has none. */
export function cloudKey(reference: string, keys: AccessOptions['keys']): string {
  const value = keys.resolve(reference);
  if (value === undefined) throw new ModelError('Model.Auth', keys.problem(reference) ?? `${reference} has no value`);
  return value;
}

const NO_CREDENTIALS = /^Failed to (?:resolve AWS credentials|acquire Google OAuth credentials)/u;
/** A refused signature is told with the request as the server read it, the session's token in it. */
const SIGNED_PARTS = /\b(x-amz-security-token|authorization)(\s*[:=]\s*)\S+/giu;
/** The client quotes what it could not read: a model's words, which belong in no error. */
const UNREADABLE = /^Could not parse a Bedrock chunk/u;

function toCloudError(error: ModelError): ModelError {
  if (NO_CREDENTIALS.test(error.message)) return new ModelError('Model.Auth', error.message);
  if (UNREADABLE.test(error.message)) return new ModelError('Model.BadResponse', 'the stream contains an event that is not JSON');
  const message = error.message.replaceAll(SIGNED_PARTS, '$1$2[redacted]');
  return message === error.message ? error : error.inWords(message);
}
