import type { HttpApi } from '../../../src/define/provider-definition.js';
import type { ScriptStepInput } from '../../../src/providers/scripted/script.js';
import type { ScriptedRequest } from '../../../src/providers/scripted/script-player.js';
import { type RecordedRequest, startWireServer } from '../../../src/testing/wire-server.js';

/** What a server answers: one step to all requests, or one by what a request says. A fault comes each time. */
export type Reply = ScriptStepInput | ((request: ScriptedRequest) => ScriptStepInput);

/** The strict wire server, told anew by each case what to answer. */
export interface ScriptedServer {
  readonly url: string;
  readonly apiKey: string;
  readonly format: HttpApi;
  readonly requests: readonly RecordedRequest[];
  answerWith(reply: Reply): void;
  /** For what stands before a gateway: the last client closed its connection before its answer was over. */
  readonly clientLeft?: boolean;
  /** The bytes that the last request is answered with when it is sent again. */
  bytesOfLastAnswer(): Promise<Buffer>;
  close(): Promise<void>;
}

/** Starts one for one wire format, or for more: requests of another format get a 404. */
export async function startScriptedServer(format: HttpApi, ...more: readonly HttpApi[]): Promise<ScriptedServer> {
  let reply: Reply = { text: 'Nothing was asked for.' };
  const server = await startWireServer({
    formats: [format, ...more],
    handler: (request) => (typeof reply === 'function' ? reply(request) : reply),
  });
  return {
    url: server.url,
    apiKey: server.apiKey,
    format,
    requests: server.requests,
    answerWith: (next) => {
      reply = next;
    },
    bytesOfLastAnswer: async () => {
      const { path, body, headers } = lastOf(server.requests);
      const response = await fetch(`${server.url}${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${server.apiKey}`,
          'x-api-key': server.apiKey,
          'anthropic-version': String(headers['anthropic-version'] ?? ''),
        },
        body: JSON.stringify(body),
      });
      return Buffer.from(await response.arrayBuffer());
    },
    close: () => server.close(),
  };
}

function lastOf(requests: readonly RecordedRequest[]): RecordedRequest {
  const last = requests.at(-1);
  if (!last) throw new Error('the server got no request yet');
  return last;
}
