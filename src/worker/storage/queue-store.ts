import type { ConnectionLike } from '@temporalio/client';
import { HOSTING_LIMITS } from '../../contracts/constants/limits.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { isProvedDead, newWorkerIdentity, parseWorkerIdentity } from '../../process/process-identity.js';
import type { LoadedConfig } from '../config/load-config.js';
import { payloadStoreOf } from './payload-store.js';

const SUFFIX = '~store-';

/** Adds the id of its store to the identity of a worker. The server shows it to the other workers of the queue. */
export function identityWithStore(identity: string, storeId: string): string {
  return storeIdOf(identity) === undefined ? `${identity}${SUFFIX}${storeId}` : identity;
}

/** Creates the identity of a worker of this process, with the id of its store. Throws PerdureError `STORE_UNUSABLE` (2, 5). */
export async function newIdentityWithStore(config: LoadedConfig, stateDir: string): Promise<string> {
  return identityWithStore(newWorkerIdentity(), await payloadStoreOf(config, stateDir).id());
}

/** The id of the store of a worker. Undefined for workers that have none in their identity, such as those of earlier versions. */
export function storeIdOf(identity: string): string | undefined {
  return /~store-(?<id>[0-9a-f]{16})$/u.exec(identity)?.groups?.['id'];
}

/** A worker or client and its store, as the workers of a queue see them. */
export interface QueueStoreOptions {
  readonly connection: ConnectionLike;
  readonly namespace: string;
  readonly taskQueue: string;
  /** The identity of this worker or client, with the id of its store. */
  readonly identity: string;
  /** The store in words. */
  readonly place: string;
  /** Receives a notice if the server does not tell who polls the queue. @default none */
  readonly say?: ((line: string) => void) | undefined;
}

/**
 * Checks that all workers of a queue have the same store. Throws PerdureError `STORE_DIFFERS` (2): a run that stores its state on one host
 * would stop on the other one. Of workers that started at the same time, one passes once both of them poll. Workers without a store in
 * their identity are not checked, and none is if the server does not answer.
 */
export async function checkQueueStore({ connection, namespace, taskQueue, identity, place, say }: QueueStoreOptions): Promise<void> {
  const asked = connection.workflowService.describeTaskQueue({ namespace, taskQueue: { name: taskQueue } });
  const { pollers } = await asked.catch((error: unknown) => {
    say?.(`cannot check that all workers of queue ${taskQueue} store large payloads in one place: ${String(error)}`);
    return { pollers: [] };
  });
  const oldest = Date.now() - HOSTING_LIMITS.pollerAgeMs;
  const living = pollers.flatMap((poller) => {
    const owner = parseWorkerIdentity(poller.identity ?? '');
    const isGone = Number(poller.lastAccessTime?.seconds ?? 0) * 1_000 < oldest || (owner !== undefined && isProvedDead(owner));
    return isGone ? [] : [poller.identity ?? ''];
  });
  const own = storeIdOf(identity);
  const others = living.filter((one) => storeIdOf(one) !== undefined && storeIdOf(one) !== own).toSorted();
  const [other] = living.includes(identity) ? others.filter((one) => one < identity) : others;
  if (other === undefined) return;
  throw new PerdureError(
    'STORE_DIFFERS',
    `${nameOfWorker(other)} polls queue ${taskQueue} and stores large payloads elsewhere, not in ${place}. ` +
      'Set artifacts in both configs to one bucket or shared folder, or use another --task-queue',
    2,
  );
}

/** A worker in words, for messages. */
export function nameOfWorker(identity: string): string {
  const owner = parseWorkerIdentity(identity);
  return owner ? `worker process ${owner.pid} on ${owner.host}` : `worker ${identity.split(SUFFIX)[0]}`;
}
