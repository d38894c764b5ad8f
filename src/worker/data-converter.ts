import type { DataConverter } from '@temporalio/common';
import type { ArtifactsDefinition } from '../define/worker/artifacts.js';
import type { KeyRing } from '../providers/contract/access-options.js';
import { createPayloadConverter, type LargePayloadConverter } from './storage/payload-converter.js';
import { createPayloadStore } from './storage/payload-store.js';

/** Options of `createDataConverter`. At least one of `artifacts` and `artifactsDir` is needed. */
export interface DataConverterOptions {
  /** `artifacts` of the workers' config: the bucket or folder of large payloads. @default `artifactsDir` */
  readonly artifacts?: ArtifactsDefinition | undefined;
  /** The folder `artifacts` of the workers' state folder. With `artifacts`, it is only read: earlier workers stored payloads there. */
  readonly artifactsDir?: string | undefined;
  /** The keys that `artifacts` refers to: `keys` of a loaded config. @default the variables and files themselves */
  readonly keys?: KeyRing | undefined;
  /** A data converter of yours, which is extended: your codecs come first, and your external storage is kept. */
  readonly dataConverter?: DataConverter | undefined;
}

/**
 * Creates the data converter of workers and clients of one queue. Payloads above 1.5 MiB (carried state, large inputs) are compressed,
 * and stored in `artifacts` when they stay larger, or by your own external storage if it takes them. Results and query answers stay below
 * 192 KiB, so other clients can read them; they can also follow a run whose carried state was compressed or stored. Throws PerdureError
 * `STORE_UNUSABLE` (2) without a store, and `INSTALLATION` (1) if the installed packages do not support external storage, in which earlier
 * versions stored payloads above 256 KiB.
 */
export function createDataConverter({ dataConverter, ...place }: DataConverterOptions): LargePayloadConverter {
  return createPayloadConverter(createPayloadStore(place).blobs, dataConverter);
}
