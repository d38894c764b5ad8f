import { PerdureError } from '../../contracts/perdure-error.js';
import type { IncomingMessage } from '../contract/channel.js';
import { readSlackEvent, type SlackRules } from './slack-event.js';
import { type SignedRequest, signatureProblem } from './slack-signature.js';

/** Options of `slackWebhook`. */
export interface SlackWebhookOptions extends Partial<SlackRules> {
  /** The signing secret of the app. Called for each request. Throws if there is none. */
  readonly signingSecret: () => string;
  /** Takes a message, mostly `bridge.receive`. Slack sends it again if it rejects. */
  readonly receive: (message: IncomingMessage) => Promise<void>;
}

/** The answer to a request of a platform. */
export interface WebhookAnswer {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers a request of a platform: its headers, and its body as it arrived. Never rejects. */
export type Webhook = (request: SignedRequest) => Promise<WebhookAnswer>;

/**
 * A handler of Slack's Events API, for any HTTP server: checks the signature, answers `url_verification`, and passes messages on. A request
 * is answered with 200 once its message is durable, with 400 if the message can never be taken, and with 503 if Slack should send it again.
 */
export function slackWebhook({ signingSecret, receive, session = 'thread', respondTo = 'mentions', users }: SlackWebhookOptions): Webhook {
  return async (request) => {
    try {
      const problem = signatureProblem(request, signingSecret(), Date.now());
      if (problem !== undefined) return refusal(401, 'BAD_SIGNATURE', problem);
      const body = parsed(request.body);
      if (body === undefined) return refusal(400, 'BAD_JSON', 'the body is no JSON');
      const event = readSlackEvent(body, { session, respondTo, users });
      if (event.kind === 'challenge') return { status: 200, body: { challenge: event.challenge } };
      return event.kind === 'message' ? await taken(receive(event.message)) : { status: 200, body: { ok: true } };
    } catch (error) {
      const code = error instanceof PerdureError ? error.code : 'UNAVAILABLE';
      return refusal(503, code, 'the message was not taken; send it again', { 'retry-after': '5' });
    }
  };
}

/** The answer to a message. Throws if Slack should send it again. */
async function taken(received: Promise<void>): Promise<WebhookAnswer> {
  try {
    await received;
    return { status: 200, body: { ok: true } };
  } catch (error) {
    // bad input is as bad the next time: https://docs.slack.dev/apis/events-api has this header
    if (!(error instanceof PerdureError) || error.exitCode !== 2) throw error;
    return refusal(400, error.code, 'the message cannot be taken', { 'x-slack-no-retry': '1' });
  }
}

function refusal(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}): WebhookAnswer {
  return { status, body: { error: { code, message } }, headers };
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}
