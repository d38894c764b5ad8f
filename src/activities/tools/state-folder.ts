import { join, resolve } from 'node:path';

/** The name of the project's own folder: its server, leases and artifacts. No tool may see it. */
export const STATE_FOLDER_NAME = '.perdure';

/** Absolute path of this process's state folder: `PERDURE_DIR`, else `.perdure` of the current folder. It need not exist. */
export function stateFolder(): string {
  const named = process.env.PERDURE_DIR;
  return named === undefined || named === '' ? join(process.cwd(), STATE_FOLDER_NAME) : resolve(named);
}
