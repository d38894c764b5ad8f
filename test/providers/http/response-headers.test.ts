import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modelErrorOf } from '../support/model-error-of.js';
import { type RawHandler, type RawServer, startRawServer, statusOf } from '../support/raw-server.js';
import { modelRequest, WIRES } from '../support/wire.js';

type Names = Readonly<Record<string, string>>;

const REQUEST_ID_ROWS: readonly (readonly [Names, string])[] = [
  [{ 'x-request-id': 'req_own', 'request-id': 'req_own', 'x-litellm-call-id': 'call_1' }, 'req_own'],
  [{ 'request-id': 'req_other', 'x-litellm-call-id': 'call_1' }, 'req_other'],
  [{ 'apim-request-id': 'req_azure' }, 'req_azure'],
  [{ 'x-litellm-call-id': 'call_1' }, 'call_1'],
  [{ 'llm_provider-x-request-id': 'req_behind' }, 'req_behind'],
];

describe.each(WIRES)('the headers of an answer over $name', (wire) => {
  let server: RawServer;
  beforeAll(async () => {
    server = await startRawServer();
  });
  afterAll(() => server.close());

  const answerOf =
    (text: string, headers: Names): RawHandler =>
    (response) =>
      void response.writeHead(200, { 'content-type': 'text/event-stream', ...headers }).end(wire.events({ text }).join(''));
  const failureOf = (handler: RawHandler) => modelErrorOf(wire, server, { handler });
  const refusalOf = (status: number, headers: Names) => failureOf(statusOf(status, wire.errorBody({ message: 'No.' }), headers));

  it.each(REQUEST_ID_ROWS)('of %j give the id %s, to an answer and to a failure', async (headers, requestId) => {
    server.answerWith(answerOf('Pong.', headers));
    expect(await wire.provider(server.url).call(modelRequest())).toMatchObject({ requestId });
    expect(await refusalOf(500, headers)).toMatchObject({ requestId });
  });

  it('say how long to wait, also those that a gateway repeats of the server behind it', async () => {
    const behind = { 'llm_provider-retry-after': '86400' };
    expect(await refusalOf(429, behind)).toMatchObject({ type: 'Model.RateLimited', retryAfterMs: 86_400_000 });
    expect(await refusalOf(429, { ...behind, 'retry-after': '3' })).toMatchObject({ retryAfterMs: 3_000 });
  });

  it('of a gateway that took a web page for an answer give it away', async () => {
    const failure = await failureOf(answerOf('', { 'llm_provider-content-type': 'text/html; charset=utf-8' }));
    expect(failure).toMatchObject({ type: 'Model.BadResponse', message: expect.stringContaining('text/html') });
  });
});
