import { StringDecoder } from 'node:string_decoder';
import { HOST_PROCESS_LIMITS } from '../../contracts/constants/limits.js';
import { NO_SECRETS, type SecretMask, type SecretStream } from '../../contracts/text/secret-mask.js';
import type { RunningCall } from './current-call.js';

/** A line that the code of a call wrote to a standard stream. */
export interface CallLine {
  readonly call: RunningCall;
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
}

interface Pending {
  readonly decoder: StringDecoder;
  readonly masked: SecretStream<string>;
  text: string;
}

/** The unfinished lines of one call, and the number of characters that it has written. */
interface Written {
  readonly stdout: Pending;
  readonly stderr: Pending;
  chars: number;
}

/**
 * Cuts what calls write to the standard streams into lines. Secrets are masked before that, because one may have several lines, or be cut
 * where a line without an end is. A call that writes without end is cut off, so that no log fills the disk.
 */
export class CallLines {
  readonly #written = new WeakMap<RunningCall, Written>();
  #receiver: (line: CallLine) => void = () => {};
  #secrets = NO_SECRETS;

  receive(receiver: (line: CallLine) => void, secrets: SecretMask = NO_SECRETS): void {
    this.#receiver = receiver;
    this.#secrets = secrets;
  }

  add(call: RunningCall, stream: CallLine['stream'], bytes: Uint8Array): void {
    const written = this.#writtenBy(call);
    if (written.chars > HOST_PROCESS_LIMITS.consoleCharsMax) return;
    const pending = written[stream];
    const text = pending.decoder.write(bytes);
    written.chars += text.length;
    this.#take(pending.masked.push(text), { call, stream, pending });
    if (pending.text.length > HOST_PROCESS_LIMITS.consoleLineCharsMax) this.#flush(call, stream, pending);
    if (written.chars > HOST_PROCESS_LIMITS.consoleCharsMax) {
      this.#receiver({ call, stream, text: '[more output of this call is dropped]' });
    }
  }

  end(call: RunningCall): void {
    const written = this.#written.get(call);
    if (!written) return;
    for (const stream of ['stdout', 'stderr'] as const) {
      const pending = written[stream];
      this.#take(pending.masked.end(), { call, stream, pending });
      this.#flush(call, stream, pending);
    }
  }

  #take(text: string, { call, stream, pending }: Pick<CallLine, 'call' | 'stream'> & { readonly pending: Pending }): void {
    const [last = '', ...complete] = `${pending.text}${text}`.split(/\r?\n/u).toReversed();
    pending.text = last;
    for (const line of complete.toReversed()) this.#receiver({ call, stream, text: line });
  }

  #flush(call: RunningCall, stream: CallLine['stream'], pending: Pending): void {
    if (pending.text !== '') this.#receiver({ call, stream, text: pending.text });
    pending.text = '';
  }

  #writtenBy(call: RunningCall): Written {
    const found = this.#written.get(call) ?? { stdout: newPending(this.#secrets), stderr: newPending(this.#secrets), chars: 0 };
    this.#written.set(call, found);
    return found;
  }
}

function newPending(secrets: SecretMask): Pending {
  return { decoder: new StringDecoder('utf8'), masked: secrets.texts(), text: '' };
}
