export { AttemptOrder } from './attempt-order.js';
export { FileStreamSink, type FileStreamSinkOptions } from './file-stream-sink.js';
export { FileStreamSource } from './file-stream-source.js';
export type { IoRedisClient, NodeRedisClient, RedisServer } from './redis-client.js';
export { RedisStreamSink, type RedisStreamSinkOptions } from './redis-stream-sink.js';
export { RedisStreamSource, type RedisStreamSourceOptions } from './redis-stream-source.js';
export type { StreamEntry, StreamEvent, StreamEventBody, StreamSink, StreamSource } from './stream.js';
export { StreamBuffer, type StreamBufferOptions } from './stream-buffer.js';
