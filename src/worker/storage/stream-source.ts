import { FileStreamSource } from '../../streams/file-stream-source.js';
import { RedisStreamSource } from '../../streams/redis-stream-source.js';
import type { StreamSource } from '../../streams/stream.js';
import type { LoadedConfig } from '../config/load-config.js';
import { stateFolder } from '../state-folder/state-folder.js';
import { redisUrlOf } from './stream-sink.js';

/** Options of `streamSource`. */
interface StreamSourceOptions {
  readonly stateDir: string;
  readonly say: (line: string) => void;
}

/**
 * The source of the tokens that the workers of a config publish: its Redis server, else the files of the state folder. Does not connect.
 * Throws PerdureError `SECRET_MISSING` or `CONFIG` (2) for an address that cannot be used.
 */
export function streamSource({ config, keys }: LoadedConfig, { stateDir, say }: StreamSourceOptions): StreamSource {
  if (!config.streams) return new FileStreamSource({ folder: stateFolder(stateDir).streams });
  const { keyPrefix } = config.streams;
  return new RedisStreamSource({
    url: redisUrlOf(config.streams, keys),
    ...(keyPrefix === undefined ? {} : { keyPrefix }),
    onError: ({ message }) => say(`cannot read token streams from Redis, runs continue without them: ${message}`),
  });
}
