import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { bedrockChunk } from './aws-frame.js';
import { isSigned } from './aws-signature.js';
import { type RawRequest, type RawServer, startRawServer } from './raw-server.js';

/** A wire server, and the secret that the cloud in front of it asks for: the wire server's own key. */
export interface Behind {
  readonly url: string;
  readonly apiKey: string;
}

interface Cloud {
  readonly version: string;
  readonly path: RegExp;
  readonly requestIdHeader: string;
  isAllowed(request: RawRequest, secret: string): boolean;
  /** What a cloud sends of an event of the messages API. */
  event(event: string): Uint8Array | string;
  readonly contentType: string;
}

const CLOUDS = {
  bedrock: {
    version: 'bedrock-2023-05-31',
    path: /^\/model\/([^/]+)\/invoke-with-response-stream$/u,
    requestIdHeader: 'x-amzn-requestid',
    isAllowed: isSigned,
    event: (event) => bedrockChunk(event.slice(event.indexOf('data: ') + 'data: '.length)),
    contentType: 'application/vnd.amazon.eventstream',
  },
  vertex: {
    version: 'vertex-2023-10-16',
    path: /^\/projects\/project-1\/locations\/us-east5\/publishers\/anthropic\/models\/([^/]+):streamRawPredict$/u,
    requestIdHeader: 'request-id',
    isAllowed: ({ headers }, secret) => headers.authorization === `Bearer ${secret}`,
    event: (event) => `${event}\n\n`,
    contentType: 'text/event-stream',
  },
} as const satisfies Readonly<Record<string, Cloud>>;

/**
 * A cloud's door to Claude in front of the strict wire server: it takes what the cloud takes, as strictly, asks the wire server, and
 * answers in the cloud's own framing.
 */
export async function startCloudFront(name: keyof typeof CLOUDS, behind: Behind): Promise<RawServer> {
  return await startRawServer((response, request) => answer(response, { request, cloud: CLOUDS[name], behind }));
}

interface Exchange {
  readonly request: RawRequest;
  readonly cloud: Cloud;
  readonly behind: Behind;
}

async function answer(response: ServerResponse, { request, cloud, behind }: Exchange): Promise<void> {
  const model = cloud.path.exec(request.path)?.[1];
  const { anthropic_version: version, ...body } = JSON.parse(request.body) as Record<string, unknown>;
  if (model === undefined || version !== cloud.version || 'model' in body) {
    return void response.writeHead(400, { 'content-type': 'application/json' }).end('{"message":"not the request of this cloud"}');
  }
  const left = new AbortController();
  response.on('close', () => left.abort());
  const asked = await fetch(`${behind.url}/v1/messages`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      'x-api-key': cloud.isAllowed(request, behind.apiKey) ? behind.apiKey : 'refused',
    },
    body: JSON.stringify({ ...body, model: decodeURIComponent(model), stream: true }),
    redirect: 'manual',
    signal: left.signal,
  }).catch(() => undefined);
  if (!asked) return void response.destroy();
  await passOn(response, asked, cloud);
}

async function passOn(response: ServerResponse, asked: Response, cloud: Cloud): Promise<void> {
  const { 'request-id': requestId, 'content-length': _, ...headers } = Object.fromEntries(asked.headers);
  const isStream = asked.headers.get('content-type')?.includes('text/event-stream') ?? false;
  response.writeHead(asked.status, {
    ...headers,
    ...(requestId === undefined ? {} : { [cloud.requestIdHeader]: requestId }),
    ...(isStream ? { 'content-type': cloud.contentType } : {}),
  });
  response.flushHeaders();
  if (!isStream || !asked.body) return void response.end(await asked.text());
  try {
    for await (const event of eventsOf(asked.body)) if (!response.write(cloud.event(event))) await once(response, 'drain');
    response.end();
  } catch {
    // what is cut behind is cut in front
    response.destroy();
  }
}

/** The whole events of a stream; what is left at its end is none. */
async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let waiting = '';
  for await (const chunk of Readable.fromWeb(body).setEncoding('utf8')) {
    const events = (waiting + chunk).split('\n\n');
    waiting = events.pop() ?? '';
    yield* events;
  }
}
