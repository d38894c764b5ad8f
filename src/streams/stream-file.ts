import { createHash } from 'node:crypto';
import { join } from 'node:path';

/**
 * The file that holds a run's token stream. Run ids that Temporal takes but a file system would not (`a/b`, capitals on a disk that
 * ignores case, `:`) get a name with a hash, so that two runs never share a file. Never throws.
 */
export function streamFile(folder: string, runId: string): string {
  if (/^[a-z0-9_][a-z0-9._-]{0,199}$/u.test(runId)) return join(folder, `${runId}.jsonl`);
  const readable = runId.replaceAll(/[^A-Za-z0-9._-]/gu, '_').replace(/^[.-]/u, '_');
  const hash = createHash('sha256').update(runId).digest('hex').slice(0, 16);
  return join(folder, `${readable.slice(0, 100)}~${hash}.jsonl`);
}
