import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { HTTP_LIMITS } from '../../../contracts/constants/limits.js';
import { HttpError } from '../access/http-error.js';
import type { Gateway } from '../routing/gateway.js';

/** A route whose requests another service signs: it checks them itself, and needs no token. */
export interface Webhook {
  /** One segment below `/channels/`. */
  readonly name: string;
  /** Answers a request, with the body as it arrived. Never rejects. */
  receive(request: { readonly headers: IncomingHttpHeaders; readonly body: Buffer }): Promise<WebhookAnswer>;
}

/** The answer to a request of a webhook. */
export interface WebhookAnswer {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The addresses of all webhooks begin with this. */
export const WEBHOOKS_PATH = '/channels/';

/** Adds the routes `POST /channels/NAME`. Their bodies are not parsed, because a signature covers the bytes. */
export function mountWebhooks(app: FastifyInstance, webhooks: readonly Webhook[], gateway: Gateway): void {
  app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    const options = { parseAs: 'buffer', bodyLimit: HTTP_LIMITS.webhookBytesMax } as const;
    scope.addContentTypeParser('*', options, (_request, body, parsed) => parsed(null, body));
    for (const webhook of webhooks) {
      scope.post(`${WEBHOOKS_PATH}${webhook.name}`, async ({ headers, body }, reply) => {
        if (gateway.isDraining) throw new HttpError(503, 'DRAINING', 'this gateway ends; send the event again', { 'retry-after': '1' });
        // without a content type there is no body
        const received = webhook.receive({ headers, body: Buffer.isBuffer(body) ? body : Buffer.alloc(0) });
        const answer = await gateway.inWork.track(received);
        return await reply
          .code(answer.status)
          .headers({ ...answer.headers, 'content-type': 'application/json' })
          .send(`${JSON.stringify(answer.body)}\n`);
      });
    }
    done();
  });
}
