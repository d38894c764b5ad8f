import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DefaultLogger, type LogEntry, type Logger } from '@temporalio/worker';
import { redact } from '../../contracts/text/redact.js';
import { visibleJson } from '../../contracts/text/sanitize-text.js';
import type { SecretMask } from '../../contracts/text/secret-mask.js';
import type { CallLine } from './call-lines.js';
import { callLabel } from './current-call.js';

/** Options of `WorkerLog`. */
export interface WorkerLogOptions {
  readonly file: string;
  /** Receives errors of the SDK and what calls print, one line each. */
  readonly say: (line: string) => void;
  readonly secrets: SecretMask;
}

/**
 * The log of a worker process: JSON lines in a file, which only its owner can read. Known secrets are masked, and a text forges no line
 * and controls no terminal that shows the file. A file that cannot be written, such as on a full disk, never ends the process: lines are
 * left out, and it says so once.
 */
export class WorkerLog {
  /** Takes warnings and errors of the SDK. The events of the run report most of them, so that only errors are printed too. */
  readonly logger: Logger;
  readonly #options: WorkerLogOptions;
  #leftOut = 0;

  constructor(options: WorkerLogOptions) {
    this.#options = options;
    mkdirSync(dirname(options.file), { recursive: true, mode: 0o700 });
    this.logger = new DefaultLogger('WARN', (entry) => {
      this.#append(plain(entry));
      if (entry.level === 'ERROR') this.#say(`Temporal worker: ${entry.message} (details in ${options.file})`);
    });
  }

  /** Writes what a tool or a hook printed, with its run and call. */
  callOutput({ call, stream, text }: CallLine): void {
    this.#append({ at: new Date().toISOString(), level: 'INFO', message: text, stream, ...call });
    const { callId } = call;
    this.#say(`${callLabel(call)}${callId === undefined ? '' : ` (call ${callId})`}: ${text}`);
  }

  #append(entry: object): void {
    const { file } = this.#options;
    try {
      appendFileSync(file, `${visibleJson(this.#shown(JSON.stringify(entry, writable)))}\n`, { mode: 0o600 });
      if (this.#leftOut > 0) this.#say(`${file} can be written again; ${this.#leftOut} lines were left out`);
      this.#leftOut = 0;
    } catch (error) {
      if (this.#leftOut === 0)
        this.#say(
          `cannot write ${file}: ${error instanceof Error ? error.message : String(error)}; lines are left out until it can be written`,
        );
      this.#leftOut += 1;
    }
  }

  #say(line: string): void {
    this.#options.say(this.#shown(line));
  }

  #shown(text: string): string {
    return redact(this.#options.secrets.text(text));
  }
}

function plain({ level, message, timestampNanos, meta }: LogEntry): object {
  const error: unknown = meta?.['error'];
  const shown = error instanceof Error ? { error: `${error.name}: ${error.message}`, stack: error.stack } : {};
  return { at: new Date(Number(timestampNanos / 1_000_000n)).toISOString(), level, message, ...meta, ...shown };
}

/** JSON has no word for what the SDK may log as a bigint. */
function writable(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
