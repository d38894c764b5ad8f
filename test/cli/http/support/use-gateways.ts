import { afterEach, inject } from 'vitest';
import { AgentClient } from '../../../../src/client/agent-client.js';
import type { TokenFunction } from '../../../../src/contracts/access/token-grant.js';
import { HTTP_LIMITS } from '../../../../src/contracts/constants/limits.js';
import type { RunInput } from '../../../../src/contracts/schemas/run.js';
import type { TokenEntry } from '../../../../src/gateway/http/access/tokens.js';
import { type GatewayOptions, serveGateway } from '../../../../src/gateway/http/serve-gateway.js';
import { FileStreamSink } from '../../../../src/streams/file-stream-sink.js';
import { FileStreamSource } from '../../../../src/streams/file-stream-source.js';
import type { StreamSource } from '../../../../src/streams/stream.js';
import type { AgentWorkerOptions } from '../../../support/agent-worker.js';
import { useTempFolders } from '../../../support/temp-folder.js';
import { useWorkers } from '../../../support/use-workers.js';
import { GatewayClient } from './gateway-client.js';

/** The token of the owner in these tests. */
export const TOKEN = 'a'.repeat(64);

/** What a test says of its gateway. */
export interface TestGatewayOptions
  extends Partial<Pick<GatewayOptions, 'requestsPerMinute' | 'streamsMax' | 'publicOrigin' | 'timeouts' | 'host' | 'webhooks'>> {
  /** @default one token, `TOKEN`, that allows everything */
  readonly entries?: readonly TokenEntry[];
  /** A function that knows the tokens, instead. */
  readonly ask?: TokenFunction;
  /** True: no worker answers. @default false */
  readonly isStarting?: boolean;
  /** When requests are answered. @default at once */
  readonly ready?: Promise<void>;
  /** Called before each query of a session's events. May throw. */
  readonly onSessionEvents?: () => void;
  /** The oldest event that sessions keep, instead of one of a thousand. @default what the session answers */
  readonly keptFrom?: () => number;
  /** @default the tokens that the worker publishes */
  readonly streams?: StreamSource;
  /** Called with a defect. @default the gateway ends with it */
  readonly onDefect?: (error: unknown) => void;
  /** @default that of the worker */
  readonly taskQueue?: string;
  /** Begin of the addresses of runs in the Temporal Web UI. @default none */
  readonly uiUrl?: string;
}

/** A gateway with a client that has its token. */
export interface TestGateway {
  readonly url: string;
  readonly client: GatewayClient;
  /** How often the token stream of a run was opened. */
  readonly streamsOpened: () => number;
  /** How often it was opened to be followed, not for what is stored. */
  readonly streamsFollowed: () => number;
  /** A client with another token. */
  readonly as: (token: string) => GatewayClient;
  /** Ends the gateway as SIGTERM does. Resolves when it has ended. */
  readonly stop: () => Promise<void>;
}

/** A worker, and gateways in front of its queue. */
export interface GatewayPlace {
  gateway(options?: TestGatewayOptions): Promise<TestGateway>;
  /** Starts a run as a client of another language does, without what the clients of this package add. */
  startBare(input: Partial<RunInput>): Promise<string>;
  /** Starts a worker on another queue. */
  worker(taskQueue: string): Promise<void>;
}

/** Workers that publish tokens, with gateways in front of them. Everything ends after each test. */
export function useGateways(): { place(options: AgentWorkerOptions): Promise<GatewayPlace> } {
  // hooks run in reverse order: the workers write to the folders until they end
  const newFolder = useTempFolders('perdure-gateway-');
  const workers = useWorkers();
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });
  return {
    async place(options) {
      const folder = await newFolder();
      const worker = await workers.worker({ streams: new FileStreamSink({ folder }), ...options });
      const { taskQueue } = worker;
      return {
        async worker(other) {
          await workers.worker({ streams: new FileStreamSink({ folder }), ...options, taskQueue: other });
        },
        startBare: async (input) => (await workers.start(worker, input)).runId,
        async gateway(given = {}) {
          const started = await startGateway({ folder, taskQueue: given.taskQueue ?? taskQueue }, given);
          ends.push(started.stop);
          return started;
        },
      };
    },
  };
}

async function startGateway(
  { folder, taskQueue }: { readonly folder: string; readonly taskQueue: string },
  {
    entries,
    ask,
    isStarting = false,
    ready,
    onSessionEvents,
    keptFrom,
    streams: replaced,
    taskQueue: _of,
    uiUrl,
    ...given
  }: TestGatewayOptions,
): Promise<TestGateway> {
  const files = new FileStreamSource({ folder });
  let [opened, followed] = [0, 0];
  const streams: StreamSource = {
    read(runId, signal, after) {
      opened += 1;
      if (!signal.aborted) followed += 1;
      return (replaced ?? files).read(runId, signal, after);
    },
  };
  const client = await AgentClient.connect({ address: inject('temporalAddress'), taskQueue, streams });
  if (onSessionEvents ?? keptFrom) watchSessions(client, { onEvents: onSessionEvents, keptFrom });
  const stop = new AbortController();
  let served: Promise<void> = Promise.resolve();
  const url = await new Promise<string>((resolve, reject) => {
    served = serveGateway({
      door: {
        version: '0',
        client,
        streams,
        ready: isStarting ? Promise.reject(new Error('no worker')) : (ready ?? Promise.resolve()),
        async start(input) {
          const { run, executionId, duplicate } = await client.start(input);
          return { runId: run.runId, executionId, duplicate, ...(uiUrl === undefined ? {} : { uiUrl: uiUrl + run.runId }) };
        },
      },
      host: '127.0.0.1',
      port: 0,
      access: ask ? { ask } : entries ? { entries } : { token: TOKEN },
      requestsPerMinute: HTTP_LIMITS.requestsPerMinuteDefault,
      signal: stop.signal,
      onListening: resolve,
      onDefect: reject,
      ...given,
    });
    served.catch(reject);
  });
  let ending: Promise<void> | undefined;
  return {
    url,
    client: new GatewayClient(url, TOKEN),
    streamsOpened: () => opened,
    streamsFollowed: () => followed,
    as: (token) => new GatewayClient(url, token),
    stop: () => {
      ending ??= (async () => {
        stop.abort();
        await served;
        await client.close();
      })();
      return ending;
    },
  };
}

interface SessionWatch {
  readonly onEvents: (() => void) | undefined;
  readonly keptFrom: (() => number) | undefined;
}

/** Calls `onEvents` before each query of a session's events by this client, and leaves out of its answer what is before `keptFrom`. */
function watchSessions(client: AgentClient, { onEvents, keptFrom }: SessionWatch): void {
  const session = client.session.bind(client);
  client.session = (...args) => {
    const handle = session(...args);
    const events = handle.events.bind(handle);
    handle.events = async (request) => {
      onEvents?.();
      const page = await events(request);
      const first = Math.max(page.first, keptFrom?.() ?? 0);
      return { ...page, first, events: page.events.filter(({ seq }) => seq >= first) };
    };
    return handle;
  };
}
