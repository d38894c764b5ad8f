import { mkdir, mkdtemp, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OutputCollector } from '../../define/define-tool.js';
import { runProcessTree } from '../process-tree.js';
import type { Sandbox } from './sandbox.js';

/** What a sandbox must show on this machine before it is used. */
export interface Probe {
  /** Commands of a shell in the workspace, which contains a covered folder `hidden`. All must succeed. */
  readonly claims: readonly string[];
  readonly timeoutMs: number;
}

const OUTPUT_BYTES_MAX = 64 * 1_024;
const LINE_CHARS_MAX = 500;
/** What docker adds behind its error. */
const ADVICE = /^(?:Run|See) '.* --help'/u;

/** Runs one command in a sandbox, as tools do. Returns why it cannot be used, or undefined. Never rejects. */
export async function probeSandbox(sandbox: Sandbox, { claims, timeoutMs }: Probe): Promise<string | undefined> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'perdure-probe-')));
  try {
    const hidden = join(folder, 'hidden');
    await mkdir(join(hidden, 'inside'), { recursive: true });
    const lines = ['touch seen', ...claims].map(
      (claim) => `{ ${claim}; } 2>/dev/null || { echo ${quoted(`not held: ${claim}`)}; exit 9; }`,
    );
    const output = new ProbeOutput();
    const { endedBy, exitCode } = await runProcessTree({
      order: sandbox.order(lines.join('\n'), {
        folder,
        shown: [],
        writable: [folder],
        readOnly: [],
        hidden: [{ path: hidden, isFolder: true }],
        network: { kind: 'none' },
      }),
      folder,
      timeoutMs,
      signal: new AbortController().signal,
      output,
      outputBytesMax: OUTPUT_BYTES_MAX,
    });
    if (endedBy === 'timeout') return `no end within ${timeoutMs} ms`;
    if (exitCode !== 0) return output.lastLine() || `exit code ${exitCode}`;
    // an engine on another machine has another folder of this name
    await stat(join(folder, 'seen'));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Keeps the output of a probe in memory. */
class ProbeOutput implements OutputCollector {
  #text = '';

  get bytes(): number {
    return this.#text.length;
  }

  write(piece: Uint8Array): Promise<void> {
    this.#text += Buffer.from(piece).toString('utf8');
    return Promise.resolve();
  }

  lastLine(): string {
    const line = this.#text.split('\n').findLast((each) => each.trim() !== '' && !ADVICE.test(each));
    return (line ?? '').slice(0, LINE_CHARS_MAX);
  }

  finish(): Promise<string> {
    return Promise.resolve(this.#text);
  }
}
