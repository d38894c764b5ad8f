import { PerdureError } from '../../contracts/perdure-error.js';
import { KeyReference } from '../../define/worker/credentials.js';
import type { StreamsDefinition } from '../../define/worker/streams.js';
import type { KeyRing } from '../../providers/contract/access-options.js';
import { FileStreamSink } from '../../streams/file-stream-sink.js';
import { RedisStreamSink } from '../../streams/redis-stream-sink.js';
import { redisUrlProblem } from '../../streams/redis-url.js';
import type { StreamSink } from '../../streams/stream.js';
import type { LoadedConfig } from '../config/load-config.js';
import { stateFolder } from '../state-folder/state-folder.js';

/** Options of `streamSink`. */
export interface StreamSinkOptions {
  readonly stateDir: string;
  readonly say: (line: string) => void;
}

const sinksByConfig = new WeakMap<LoadedConfig, Map<string, StreamSink>>();

/**
 * The sink of all workers of this process with the same config and folder: files of the state folder, which commands of the same folder
 * read, and the Redis server of the config. Begins to connect, and does not wait for it. Throws PerdureError `SECRET_MISSING` or `CONFIG`
 * (2) for an address that cannot be used.
 */
export function streamSink(loaded: LoadedConfig, options: StreamSinkOptions): StreamSink {
  const known = sinksByConfig.get(loaded) ?? new Map<string, StreamSink>();
  sinksByConfig.set(loaded, known);
  const sink = known.get(options.stateDir) ?? createSink(loaded, options);
  known.set(options.stateDir, sink);
  return sink;
}

function createSink({ config, keys }: LoadedConfig, { stateDir, say }: StreamSinkOptions): StreamSink {
  const files = new FileStreamSink({
    folder: stateFolder(stateDir).streams,
    onError: (error) => say(`cannot write token streams, runs continue without them: ${String(error)}`),
  });
  if (!config.streams) return files;
  const { keyPrefix, ttlMs, entriesMax } = config.streams;
  const redis = new RedisStreamSink({
    url: redisUrlOf(config.streams, keys),
    ...(keyPrefix === undefined ? {} : { keyPrefix }),
    ...(ttlMs === undefined ? {} : { ttlMs }),
    ...(entriesMax === undefined ? {} : { entriesMax }),
    onError: ({ message }) => say(`cannot write token streams to Redis, runs continue without them: ${message}`),
  });
  void redis.connect();
  return both(files, redis);
}

function both(...sinks: readonly StreamSink[]): StreamSink {
  return {
    publish(event) {
      for (const sink of sinks) sink.publish(event);
    },
    async flush(runId) {
      await Promise.all(sinks.map((sink) => sink.flush(runId)));
    },
  };
}

/** The address of the Redis server of a config. Throws PerdureError `SECRET_MISSING` or `CONFIG` (2). */
export function redisUrlOf(streams: StreamsDefinition, keys: KeyRing): string {
  // the config was checked
  if (!KeyReference.safeParse(streams.url).success) return streams.url;
  const url = keys.resolve(streams.url);
  if (url === undefined) throw new PerdureError('SECRET_MISSING', `streams.url: ${keys.problem(streams.url) ?? 'no value'}`, 2);
  const problem = redisUrlProblem(url, streams);
  if (problem !== undefined) throw new PerdureError('CONFIG', `streams.url (${streams.url}): ${problem}`, 2);
  return url;
}
