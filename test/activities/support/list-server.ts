import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';

/** A request for a list of models. */
export interface ListRequest {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** A server that has models. */
export interface ListServer {
  readonly origin: string;
  readonly requests: readonly ListRequest[];
  close(): Promise<void>;
}

/** Starts a server on the loopback interface that lists these models, or answers as it is told. */
export async function startListServer(models: readonly string[] | ((response: ServerResponse) => void)): Promise<ListServer> {
  const requests: ListRequest[] = [];
  const server = createServer((request, response) => {
    requests.push({ url: request.url ?? '', headers: request.headers });
    if (typeof models === 'function') return models(response);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ object: 'list', data: models.map((id) => ({ id, object: 'model' })) }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
