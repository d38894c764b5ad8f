import { statSync } from 'node:fs';
import { argumentsOf, isPidProvedDead, type ProcessIdentity } from '../../process/process-identity.js';
import { stateFolder } from '../state-folder/state-folder.js';

/** Pid and start time of a process of this place. */
export type ProcessStart = Pick<ProcessIdentity, 'pid' | 'start'>;

/** The processes that a record can name: the server of the folder, no process, another process, or one whose arguments are not visible. */
export type NamedProcess = 'server' | 'gone' | 'other' | 'unknown';

/**
 * Checks a pid and start time from a file: `server` only if the process was started as a Temporal dev server on the database of this
 * folder. Only such a process may be signalled, because anyone who can write the file can name any process. Never throws.
 */
export function namedProcess(stateDir: string, { pid, start }: ProcessStart): NamedProcess {
  if (isPidProvedDead(pid, start)) return 'gone';
  const found = argumentsOf(pid);
  // a process that is ending has no arguments
  if (!found || found.length === 0) return isPidProvedDead(pid, start) ? 'gone' : 'unknown';
  const database = found[found.indexOf(DATABASE_FLAG) + 1];
  const isServer = found.includes('start-dev') && found.includes(DATABASE_FLAG) && database !== undefined;
  return isServer && isSameFile(database, stateFolder(stateDir).database) ? 'server' : 'other';
}

/** The option of the Temporal CLI that names the database. */
export const DATABASE_FLAG = '--db-filename';

/** A folder may have several paths. A new database has no file yet. */
function isSameFile(one: string, other: string): boolean {
  if (one === other) return true;
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
}
