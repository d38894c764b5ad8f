import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DefaultLogger, type LogEntry, type Logger } from '@temporalio/worker';
import { redact } from '../contracts/failures.js';

/**
 * The SDK's log of a process of ours: warnings and errors as JSON lines in a file, since most of them are told in the run's own events
 * already. What the SDK calls an error is also said in one line.
 */
export function createWorkerLog(file: string, say: (line: string) => void): Logger {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return new DefaultLogger('WARN', (entry) => {
    appendFileSync(file, `${redact(JSON.stringify(plain(entry)))}\n`, { mode: 0o600 });
    if (entry.level === 'ERROR') say(`Temporal worker: ${redact(entry.message)} (details in ${file})`);
  });
}

function plain({ level, message, timestampNanos, meta }: LogEntry): object {
  const error: unknown = meta?.['error'];
  const shown = error instanceof Error ? { error: `${error.name}: ${error.message}`, stack: error.stack } : {};
  return { at: new Date(Number(timestampNanos / 1_000_000n)).toISOString(), level, message, ...meta, ...shown };
}
