import type { SecretMask } from '../../contracts/text/secret-mask.js';
import { type CallLine, CallLines } from './call-lines.js';
import { currentCall, type RunningCall } from './current-call.js';

/** The standard streams for the program's own output. */
export interface OwnOutput {
  readonly stdout: OwnStream;
  readonly stderr: OwnStream;
}

/** One of them, with the properties of the process's stream. */
export interface OwnStream {
  write(text: string): unknown;
  readonly isTTY: boolean;
  readonly columns: number;
  readonly rows: number;
}

type Write = NodeJS.WriteStream['write'];

const lines = new CallLines();

/**
 * Reserves standard output for the program itself: what any other code of this process writes with `console` or `process.stdout` goes to
 * standard error from now on. What a call of a run writes to either stream goes to the receiver of `receiveCallOutput` as lines. Call it
 * once, before other code runs. It cannot redirect writes to the file descriptor, such as those of a child process that inherits it.
 */
export function redirectOutput(): OwnOutput {
  const { stdout, stderr } = process;
  const own = { stdout: stdout.write.bind(stdout), stderr: stderr.write.bind(stderr) };
  stdout.write = redirected('stdout', own.stderr);
  stderr.write = redirected('stderr', own.stderr);
  lines.receive(({ text }) => void own.stderr(`${text}\n`));
  return { stdout: ownStream(stdout, own.stdout), stderr: ownStream(stderr, own.stderr) };
}

/** Sends the lines that calls write to the standard streams to `receiver`, without secrets, until the next call of this function. */
export function receiveCallOutput(receiver: (line: CallLine) => void, secrets: SecretMask): void {
  lines.receive(receiver, secrets);
}

/** Sends the last line of a call that ended, if it has no line end. */
export function endCallOutput(call: RunningCall): void {
  lines.end(call);
}

function ownStream(stream: NodeJS.WriteStream, write: Write): OwnStream {
  return {
    write: (text) => write(text),
    get isTTY() {
      return stream.isTTY;
    },
    get columns() {
      return stream.columns;
    },
    get rows() {
      return stream.rows;
    },
  };
}

function redirected(name: CallLine['stream'], toStderr: Write): Write {
  return (chunk: string | Uint8Array, encoding?: unknown, callback?: unknown): boolean => {
    const done = [encoding, callback].find((each) => typeof each === 'function');
    const given = typeof encoding === 'string' && Buffer.isEncoding(encoding) ? encoding : 'utf8';
    const call = currentCall();
    if (!call) return toStderr(chunk, given, done === undefined ? undefined : () => done());
    lines.add(call, name, typeof chunk === 'string' ? Buffer.from(chunk, given) : chunk);
    if (done !== undefined) process.nextTick(done);
    return true;
  };
}
