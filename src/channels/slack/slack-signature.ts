import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { CHANNEL_LIMITS } from '../../contracts/constants/limits.js';

/** What is signed. */
export interface SignedRequest {
  readonly headers: IncomingHttpHeaders;
  /** The body as it arrived. */
  readonly body: Buffer;
}

/**
 * Checks the signature `v0` of a request of Slack (https://docs.slack.dev/authentication/verifying-requests-from-slack): it covers the time
 * and the body. Returns what is wrong. Undefined for a request that Slack signed within the last five minutes. Never throws.
 */
export function signatureProblem({ headers, body }: SignedRequest, secret: string, now: number): string | undefined {
  const timestamp = headers['x-slack-request-timestamp'];
  const signature = headers['x-slack-signature'];
  if (typeof timestamp !== 'string' || typeof signature !== 'string' || !/^\d{1,12}$/u.test(timestamp)) return 'the signature is missing';
  const expected = Buffer.from(`v0=${createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest('hex')}`);
  const given = Buffer.from(signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'the signature is wrong';
  const ageMs = Math.abs(now - Number(timestamp) * 1_000);
  return ageMs > CHANNEL_LIMITS.signatureAgeMsMax ? 'the signature is too old' : undefined;
}
