import { inspect } from 'node:util';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import type { RawHandler, RawServer } from './raw-server.js';
import { modelRequest, type Wire } from './wire.js';

/** Lets a server answer one request, and gives the error that its provider makes of it. Throws when there is none, or were two requests. */
export async function modelErrorOf(
  wire: Wire,
  server: RawServer,
  { handler, idleMs = 30_000 }: { readonly handler: RawHandler; readonly idleMs?: number | undefined },
): Promise<ModelError> {
  server.answerWith(handler);
  const before = server.requests.length;
  const error: unknown = await wire
    .provider(server.url)
    .call(modelRequest({ idleMs }))
    .then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
  if (server.requests.length !== before + 1) throw new Error(`${server.requests.length - before} requests in place of one`);
  if (!(error instanceof ModelError)) throw new Error(`no ModelError but ${inspect(error)}`);
  return error;
}
