import { WORKSPACE_LIMITS } from '../../contracts/constants/limits.js';
import { formatBytes } from '../../output/truncate-output.js';
import { type Jail, openFile } from '../../tools/workspace/jail.js';
import { asWorkspaceError, shown, WorkspaceError } from '../../tools/workspace/workspace-error.js';

/** How far into a file a NUL byte marks it as binary: what git looks at. */
export const BINARY_PROBE_BYTES = 8_000;

/** True for bytes that no text begins with. */
export function looksBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, BINARY_PROBE_BYTES).includes(0);
}

/** The whole text of a file of the workspace, exactly as it is. Throws WorkspaceError: TOO_LARGE, NOT_TEXT (also for bytes that are no UTF-8), and those of the jail. */
export async function readText(jail: Jail, path: string): Promise<string> {
  const handle = await openFile(jail, path);
  try {
    const { size } = await handle.stat();
    if (size > WORKSPACE_LIMITS.fileBytesMax)
      throw new WorkspaceError('TOO_LARGE', `${shown(path)} has ${formatBytes(size)}; use run_command for it`);
    const bytes = await handle.readFile();
    if (looksBinary(bytes)) throw new WorkspaceError('NOT_TEXT', `${shown(path)} looks binary`);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw new WorkspaceError('NOT_TEXT', `${shown(path)} is not UTF-8 text`, { cause: error });
    throw asWorkspaceError(error, path);
  } finally {
    await handle.close();
  }
}
