import { promisify } from 'node:util';
import { gunzip, gzip, constants as zlib } from 'node:zlib';
import type { Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import { PAYLOAD_LIMITS } from '../../contracts/constants/limits.js';
import { type BlobStore, markMissing } from './blob-store.js';

// uses the default export, because Node finds no named exports in this CommonJS package
const { Payload: PayloadProto } = proto.temporal.api.common.v1;

/** The encodings of payloads that this codec wrote. */
const LARGE_PAYLOAD_ENCODINGS = { compressed: 'binary/perdure-gzip', stored: 'binary/perdure-blob' } as const;

/** Fast: a state of tens of megabytes is compressed while its workflow task waits. */
const LEVEL = zlib.Z_BEST_SPEED;

/**
 * Makes payloads fit that the server would refuse. Those of one command or message stay as they are up to 1.5 MiB in all; above it the
 * largest ones are compressed, and stored as blobs when they stay too large. A client without this codec can follow a run whose
 * carried state was compressed or stored: it passes such a payload and never opens it. With the SDK's external storage it could not.
 * Payloads of `externalBytesMin` go to an external storage of the application, which comes after the codec: they are compressed, not
 * stored as blobs.
 */
export class LargePayloadCodec implements PayloadCodec {
  readonly #store: LargePayloadStore;

  constructor(blobs: BlobStore, externalBytesMin: number = Number.POSITIVE_INFINITY) {
    this.#store = { blobs, externalBytesMin };
  }

  async encode(payloads: Payload[]): Promise<Payload[]> {
    return bytesOf(payloads) <= PAYLOAD_LIMITS.inlineBytesMax ? payloads : await fit(payloads, this.#store);
  }

  async decode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.some(isLarge) ? await Promise.all(payloads.map((payload) => open(payload, this.#store.blobs))) : payloads;
  }
}

interface LargePayloadStore {
  readonly blobs: BlobStore;
  readonly externalBytesMin: number;
}

/** Makes payloads smaller, the largest one first, until all of them fit: each is compressed, and stored when that is not enough. */
async function fit(payloads: readonly Payload[], { blobs, externalBytesMin }: LargePayloadStore): Promise<Payload[]> {
  const fitted = [...payloads];
  const isTooLarge = (): boolean => bytesOf(fitted.filter((one) => dataOf(one).length < externalBytesMin)) > PAYLOAD_LIMITS.inlineBytesMax;
  const largestFirst = [...payloads.entries()].toSorted(([, a], [, b]) => dataOf(b).length - dataOf(a).length);
  for (const [index, payload] of largestFirst) {
    if (bytesOf(fitted) <= PAYLOAD_LIMITS.inlineBytesMax) break;
    const compressed = await compress(payload);
    fitted[index] = compressed;
    if (isTooLarge() && dataOf(compressed).length < externalBytesMin) fitted[index] = await store(compressed, blobs);
  }
  return fitted;
}

async function compress(payload: Payload): Promise<Payload> {
  return { metadata: metadata('compressed'), data: await promisify(gzip)(PayloadProto.encode(payload).finish(), { level: LEVEL }) };
}

async function store(compressed: Payload, blobs: BlobStore): Promise<Payload> {
  return { metadata: metadata('stored'), data: new TextEncoder().encode(await blobs.put(dataOf(compressed))) };
}

/**
 * Opens a payload of this codec; others stay unchanged, also those that only claim to be one. One whose blob is missing becomes a payload
 * that cannot be decoded. Throws `BLOB_MISSING` or `BLOB_CORRUPT` with the reference when the blob cannot be read.
 */
async function open(payload: Payload, blobs: BlobStore): Promise<Payload> {
  switch (encodingOf(payload)) {
    case LARGE_PAYLOAD_ENCODINGS.compressed:
      return (await decompress(dataOf(payload))) ?? payload;
    case LARGE_PAYLOAD_ENCODINGS.stored: {
      const ref = storedRef(payload);
      if (ref === undefined) return payload;
      return await markMissing(async () => (await decompress(await blobs.get(ref))) ?? payload);
    }
    default:
      return payload;
  }
}

/** The reference of a payload that was stored as a blob; undefined for any other payload. */
export function storedRef(payload: Payload): string | undefined {
  if (encodingOf(payload) !== LARGE_PAYLOAD_ENCODINGS.stored) return undefined;
  const ref = new TextDecoder().decode(dataOf(payload));
  return /^[0-9a-f]{64}$/u.test(ref) ? ref : undefined;
}

/** The payload in compressed bytes; undefined for bytes that any client may have made up, or that would fill the memory. */
async function decompress(bytes: Uint8Array): Promise<Payload | undefined> {
  try {
    const { metadata: given, data } = PayloadProto.decode(
      await promisify(gunzip)(bytes, { maxOutputLength: PAYLOAD_LIMITS.openedBytesMax }),
    );
    return { ...(given ? { metadata: given } : {}), ...(data ? { data } : {}) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return undefined;
  }
}

function isLarge(payload: Payload): boolean {
  const encoding = encodingOf(payload);
  return encoding === LARGE_PAYLOAD_ENCODINGS.compressed || encoding === LARGE_PAYLOAD_ENCODINGS.stored;
}

function metadata(kind: keyof typeof LARGE_PAYLOAD_ENCODINGS): NonNullable<Payload['metadata']> {
  return { encoding: new TextEncoder().encode(LARGE_PAYLOAD_ENCODINGS[kind]) };
}

function encodingOf({ metadata: given }: Payload): string {
  const encoding = given?.['encoding'];
  return encoding ? new TextDecoder().decode(encoding) : '';
}

function dataOf({ data }: Payload): Uint8Array {
  return data ?? new Uint8Array();
}

function bytesOf(payloads: readonly Payload[]): number {
  return payloads.reduce((bytes, payload) => bytes + dataOf(payload).length, 0);
}
