// The data converter of this application: Temporal stores its payloads, and those of agents, encrypted.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import proto from '@temporalio/proto';

const { Payload } = proto.temporal.api.common.v1;
const ENCODING = 'binary/encrypted';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** The data converter of the worker and of its clients. The first call makes the key, a file that only you can read. */
export async function createDataConverter() {
  const file = 'payload.key';
  // an earlier start has made it; else reading it fails
  await writeFile(file, randomBytes(32), { flag: 'wx', mode: 0o600 }).catch(() => undefined);
  return { payloadCodecs: [new Encryption(await readFile(file))] };
}

/** Encrypts each payload with AES-256-GCM. */
class Encryption {
  #key;

  constructor(key) {
    this.#key = key;
  }

  async encode(payloads) {
    return payloads.map((payload) => {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', this.#key, iv);
      const data = Buffer.concat([iv, cipher.update(Payload.encode(payload).finish()), cipher.final(), cipher.getAuthTag()]);
      return { metadata: { encoding: Buffer.from(ENCODING) }, data };
    });
  }

  async decode(payloads) {
    return payloads.map((payload) => {
      const { metadata, data } = payload;
      if (Buffer.from(metadata?.encoding ?? '').toString() !== ENCODING) return payload;
      const cipher = createDecipheriv('aes-256-gcm', this.#key, data.subarray(0, IV_BYTES)).setAuthTag(data.subarray(-TAG_BYTES));
      return Payload.decode(Buffer.concat([cipher.update(data.subarray(IV_BYTES, -TAG_BYTES)), cipher.final()]));
    });
  }
}
