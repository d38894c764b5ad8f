import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { NativeConnection, type Worker } from '@temporalio/worker';
import { afterEach, beforeEach, inject } from 'vitest';

/** What a test has for workers that it creates itself. */
export interface OwnedConnections {
  readonly folder: string;
  readonly connection: Connection;
  readonly nativeConnection: NativeConnection;
  /** Runs a worker until the end of the test. */
  run(worker: Worker): void;
}

/** A folder and connections to the server of the test run, of their own for each test. The worker's last poll ends before they are closed. */
export function useOwnedConnections(): OwnedConnections {
  const stops: (() => Promise<void>)[] = [];
  let owned: Omit<OwnedConnections, 'run'>;
  beforeEach(async () => {
    const address = inject('temporalAddress');
    const folder = await mkdtemp(join(tmpdir(), 'perdure-owned-'));
    const [connection, nativeConnection] = await Promise.all([Connection.connect({ address }), NativeConnection.connect({ address })]);
    owned = { folder, connection, nativeConnection };
  });
  afterEach(async () => {
    await Promise.all(stops.splice(0).map((stop) => stop()));
    await owned.nativeConnection.close();
    await owned.connection.close();
    await rm(owned.folder, { recursive: true, force: true });
  });
  return {
    get folder() {
      return owned.folder;
    },
    get connection() {
      return owned.connection;
    },
    get nativeConnection() {
      return owned.nativeConnection;
    },
    run: (worker) => {
      const running = worker.run();
      stops.push(async () => {
        worker.shutdown();
        await running;
      });
    },
  };
}
