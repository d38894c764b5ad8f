import { ExternalStorage, type Payload, type StorageDriver, type StorageDriverClaim } from '@temporalio/common';

/** The drivers that workers may store carried state with. */
const DRIVER_NAMES = ['perdure-files'];

const NOTHING: Payload = { metadata: { encoding: new TextEncoder().encode('binary/null') } };

/**
 * External storage for a client that has none: what a run carries over continue-as-new is not for outsiders, but it stands in the
 * events that a client reads on its way to the result. It is read as nothing instead of failing; nothing is ever stored.
 */
export function unreadStorage(): ExternalStorage {
  return new ExternalStorage({ drivers: DRIVER_NAMES.map(unreadDriver), driverSelector: () => null });
}

function unreadDriver(name: string): StorageDriver {
  return {
    name,
    type: 'perdure.unread',
    store: () => Promise.reject(new Error('a client without storage stores nothing')),
    retrieve: (_context, claims: readonly StorageDriverClaim[]) => Promise.resolve(claims.map(() => NOTHING)),
  };
}
