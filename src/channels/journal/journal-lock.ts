import { PerdureError } from '../../contracts/perdure-error.js';
import { acquireFolderLock, type FolderLock } from '../../worker/state-folder/folder-lock.js';

/**
 * Takes the lock of a journal, the folder `PATH.lock`. The death of a process releases its locks. Throws `JOURNAL_IN_USE` (4) for a journal
 * that is open, after a second: its bridge may just be closing.
 */
export async function lockJournal(path: string): Promise<FolderLock> {
  const waited = AbortSignal.timeout(WAIT_MS);
  let holder: number | undefined;
  const onWait = (pid: number): void => {
    holder = pid;
  };
  try {
    return await acquireFolderLock(`${path}.lock`, { signal: waited, onWait });
  } catch (cause) {
    if (holder === undefined || !waited.aborted) throw cause;
    throw new PerdureError('JOURNAL_IN_USE', `${path} is open in process ${holder}; close its bridge, or use another journal`, 4, {
      cause,
    });
  }
}

const WAIT_MS = 1_000;
