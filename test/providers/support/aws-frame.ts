import { crc32 } from 'node:zlib';

const STRING = 7;

/** One message of an AWS event stream: lengths, headers, payload, and a checksum behind each part. */
function awsFrame(headers: Readonly<Record<string, string>>, payload: unknown): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value)));
  const body = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(16 + head.length + body.length, 0);
  prelude.writeUInt32BE(head.length, 4);
  const message = Buffer.concat([prelude, checksum(prelude), head, body]);
  return Buffer.concat([message, checksum(message)]);
}

/** An event of the messages API as Bedrock sends it. */
export function bedrockChunk(event: string): Buffer {
  const headers = { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' };
  return awsFrame(headers, { bytes: Buffer.from(event).toString('base64') });
}

/** A failure in the midst of an answer. */
export function bedrockException(type: string, message: string): Buffer {
  return awsFrame({ ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' }, { message });
}

function header(name: string, value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(value));
  return Buffer.concat([Buffer.from([Buffer.byteLength(name)]), Buffer.from(name), Buffer.from([STRING]), length, Buffer.from(value)]);
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}
