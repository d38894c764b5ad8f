import type { IncomingHttpHeaders } from 'node:http';
import { WireRefusal, type WireRefusalDetails } from '../../format/format-server.js';

/** The key of a request to one of OpenAI's APIs. */
export function openAiKeyIn(headers: IncomingHttpHeaders): string | undefined {
  return headers.authorization?.match(/^Bearer (.+)$/u)?.[1];
}

/** Like the APIs' own text it shows a part of the key: what reads it must not pass it on. */
export function refuseOpenAiKey(key: string | undefined): WireRefusal {
  const details = { type: 'invalid_request_error', code: 'invalid_api_key' };
  if (key === undefined)
    return new WireRefusal(401, "You didn't provide an API key. Send it in an Authorization header with Bearer auth.", details);
  const shown = `${key.slice(0, 8)}${'*'.repeat(Math.max(0, key.length - 12))}${key.slice(-4)}`;
  return new WireRefusal(401, `Incorrect API key provided: ${shown}.`, details);
}

/** The body of a refusal. */
export function openAiErrorBody({ status, message, details }: WireRefusal): unknown {
  return { error: openAiError(message, details.type ?? typeOf(status), details) };
}

/** An error as bodies and streams tell it. */
export function openAiError(message: string, type: string, { param, code }: WireRefusalDetails = {}): object {
  return { message, type, param: param ?? null, code: code ?? null };
}

function typeOf(status: number): string {
  if (status === 429) return 'requests';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}
