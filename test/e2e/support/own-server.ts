import type { ChildProcess } from 'node:child_process';
import { afterEach, beforeEach, inject } from 'vitest';
import { freePort } from '../../support/free-port.js';
import { useTempFolder } from '../../support/temp-folder.js';
import { killServer, startTemporalServer, untilAnswering } from '../../support/temporal-server.js';

/** A Temporal server that a test may kill. It keeps its address and its runs. */
export interface OwnServer {
  readonly address: string;
  /** SIGKILL, and waits until the process is gone. */
  kill(): Promise<void>;
  /** Starts it after a kill, and waits until it answers. */
  startAgain(): Promise<void>;
}

/**
 * A Temporal server for each test of a file, on a database of its own. Call it before `usePerdureFolders`, so that the processes of the
 * folders end first.
 */
export function useOwnServer(): OwnServer {
  const database = useTempFolder('perdure-server-');
  let port: number;
  let server: ChildProcess;
  const own: OwnServer = {
    get address() {
      return `127.0.0.1:${port}`;
    },
    kill: () => killServer(server),
    startAgain: async () => {
      server = startTemporalServer({ binary: inject('temporalBinary'), port, folder: database.path });
      await untilAnswering(server, own.address);
    },
  };
  beforeEach(async () => {
    port = await freePort();
    await own.startAgain();
  });
  afterEach(() => own.kill());
  return own;
}
