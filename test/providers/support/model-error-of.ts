import { inspect } from 'node:util';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import { type RawHandler, type RawServer, readAllSent } from './raw-server.js';
import { modelRequest, type Wire } from './wire.js';

/** How a server answers. */
export interface Answering {
  readonly handler: RawHandler;
  /** The idle time, for a server that falls silent. It may pass before the request is sent: then the server gets none. @default 30 s */
  readonly silentMs?: number | undefined;
}

/** Lets a server answer one request, and gives the error that its provider makes of it. Throws when there is none, or were two requests. */
export async function modelErrorOf(wire: Wire, server: RawServer, { handler, silentMs }: Answering): Promise<ModelError> {
  server.answerWith(handler);
  const before = server.requests.length;
  const error: unknown = await wire
    .provider(server.url)
    .call(modelRequest({ idleMs: silentMs ?? 30_000 }))
    .then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
  if (silentMs !== undefined) await readAllSent();
  const count = server.requests.length - before;
  if (count > 1 || (count === 0 && silentMs === undefined)) throw new Error(`${count} requests in place of one`);
  if (!(error instanceof ModelError)) throw new Error(`no ModelError but ${inspect(error)}`);
  return error;
}
