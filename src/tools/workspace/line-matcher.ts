import { Worker } from 'node:worker_threads';
import { WORKSPACE_LIMITS } from '../../contracts/constants/limits.js';
import { WorkspaceError } from './workspace-error.js';

/**
 * What the thread runs: for each text the indexes of the lines that match. It is JavaScript in a string because a thread
 * needs a file that Node can load, and the sources are loaded under other names when they are built, bundled or tested.
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
 * Matches a regular expression against lines in a thread of its own, which is ended when a text takes too long:
 * a catastrophic pattern never blocks the worker. One text at a time. `close` must be called.
 */
export class LineMatcher {
  private readonly thread: Worker;

  /** Throws WorkspaceError BAD_PATTERN for what is no regular expression. A leading `(?i)` ignores case. */
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

  /** Indexes of the lines of a text that match, at most `searchMatchesMax`. Throws PATTERN_TOO_SLOW after `searchFileMsMax`, and the signal's reason. */
  async match(text: string, path: string, signal: AbortSignal): Promise<number[]> {
    signal.throwIfAborted();
    const thread = this.thread;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle(() => reject(tooSlow(path))), WORKSPACE_LIMITS.searchFileMsMax);
      const onAborted = (): void => settle(() => reject(signal.reason));
      const onMatched = (lines: number[]): void => settle(() => resolve(lines));
      const onError = (cause: unknown): void => settle(() => reject(new WorkspaceError('FAILED', 'the search broke down', { cause })));
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

  /** Ends the thread, also in the middle of a match. */
  async close(): Promise<void> {
    await this.thread.terminate();
  }
}

function assertPattern(source: string, flags: string): void {
  try {
    RegExp(source, flags);
  } catch (error) {
    throw new WorkspaceError('BAD_PATTERN', error instanceof Error ? error.message : 'not a regular expression', { cause: error });
  }
}

function tooSlow(path: string): WorkspaceError {
  const seconds = WORKSPACE_LIMITS.searchFileMsMax / 1_000;
  return new WorkspaceError(
    'PATTERN_TOO_SLOW',
    `the pattern did not finish ${JSON.stringify(path)} within ${seconds}s; avoid nested repetitions such as (a+)+`,
  );
}
