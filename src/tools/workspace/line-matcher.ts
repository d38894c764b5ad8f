import { Worker } from 'node:worker_threads';
import { WORKSPACE_LIMITS } from '../../contracts/constants/limits.js';
import { WorkspaceError } from './workspace-error.js';

/**
 * The program of the thread: returns the indexes of the matching lines of each text. It is a string, because the file name of a module
 * differs between built, bundled and tested code.
 */
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads');
const pattern = new RegExp(workerData.source, workerData.flags);
parentPort.on('message', (text) => {
  const matched = [];
  text.split('\\n').forEach((line, index) => {
    if (matched.length < workerData.matchesMax && pattern.test(line.slice(0, workerData.charsMax))) matched.push(index);
  });
  parentPort.postMessage(matched);
});
`;

/**
 * Matches a regular expression against lines in a separate thread, which is terminated if a text takes too long. A pattern with
 * catastrophic backtracking therefore never blocks the worker. One text at a time. `close` must be called.
 */
export class LineMatcher {
  private readonly thread: Worker;

  /** A leading `(?i)` ignores case. Throws WorkspaceError BAD_PATTERN for an invalid regular expression. */
  constructor(pattern: string) {
    const ignoresCase = pattern.startsWith('(?i)');
    const source = ignoresCase ? pattern.slice('(?i)'.length) : pattern;
    const flags = ignoresCase ? 'i' : '';
    assertPattern(source, flags);
    this.thread = new Worker(PROGRAM, {
      eval: true,
      env: {},
      workerData: { source, flags, charsMax: WORKSPACE_LIMITS.searchLineCharsMax, matchesMax: WORKSPACE_LIMITS.searchMatchesMax },
      resourceLimits: { maxOldGenerationSizeMb: 128 },
    });
  }

  /** The indexes of the matching lines, at most `searchMatchesMax`. Throws PATTERN_TOO_SLOW after `searchFileMsMax`, or the reason of the signal. */
  async match(text: string, path: string, signal: AbortSignal): Promise<number[]> {
    signal.throwIfAborted();
    const thread = this.thread;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle(() => reject(tooSlow(path))), WORKSPACE_LIMITS.searchFileMsMax);
      const onAborted = (): void => settle(() => reject(signal.reason));
      const onMatched = (lines: number[]): void => settle(() => resolve(lines));
      const onError = (cause: unknown): void => settle(() => reject(new WorkspaceError('FAILED', 'the search failed', { cause })));
      const settle = (end: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAborted);
        thread.off('message', onMatched).off('error', onError);
        end();
      };
      signal.addEventListener('abort', onAborted, { once: true });
      thread.once('message', onMatched).once('error', onError);
      thread.postMessage(text, []);
    });
  }

  /** Terminates the thread, even during a match. */
  async close(): Promise<void> {
    await this.thread.terminate();
  }
}

function assertPattern(source: string, flags: string): void {
  try {
    RegExp(source, flags);
  } catch (error) {
    throw new WorkspaceError('BAD_PATTERN', error instanceof Error ? error.message : 'not a valid regular expression', { cause: error });
  }
}

function tooSlow(path: string): WorkspaceError {
  const seconds = WORKSPACE_LIMITS.searchFileMsMax / 1_000;
  return new WorkspaceError(
    'PATTERN_TOO_SLOW',
    `the pattern took more than ${seconds}s for ${JSON.stringify(path)}; avoid nested repetitions such as (a+)+`,
  );
}
