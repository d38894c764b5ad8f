import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A pipe for the output of child processes. Its memory use does not depend on the size of the output. */
export interface OutputPipe {
  /** The write end. Passed to the child processes at their start, then closed in this process. */
  readonly writeEnd: Socket;
  /** Resolves when all processes have closed the pipe, or after `close`. Never rejects. */
  readonly ended: Promise<void>;
  /** Reads the rest without backpressure, up to a limit. Called at the end of a command. */
  drain(): void;
  /** Stops reading, even if a process still writes. */
  close(): void;
}

/** The size of a read. A Linux socket buffers at most three of these. */
const PIECE_BYTES = 64 * 1_024;

/** The limit of output after the end of a command. More than this comes from a process that escaped. */
const LATE_BYTES_MAX = 1_024 * 1_024;

/** Time to connect the two ends, which takes less than a millisecond. */
const PAIR_MS_MAX = 2_000;

/** Some systems limit socket paths to 104 bytes. With a longer temporary folder, the socket is in /tmp. */
const FOLDER_CHARS_MAX = 70;
const SHORT_FOLDER = '/tmp';

/**
 * Opens a pipe that passes each piece to `take` and reads the next one after the promise resolves. Node's pipes allocate a buffer per
 * read, which adds tens of MB before a garbage collection. This pipe alternates between two buffers.
 */
export async function openOutputPipe(take: (piece: Buffer) => Promise<void>): Promise<OutputPipe> {
  const pieces = new Pieces(take);
  const [writeEnd, reader] = await socketPair(pieces);
  const ended = new Promise<void>((resolve) => void reader.once('close', resolve));
  // a broken pipe also emits `close`
  reader.on('error', () => undefined);
  return {
    writeEnd,
    ended,
    drain: () => {
      pieces.isLate = true;
      reader.resume();
    },
    close: () => {
      writeEnd.destroy();
      reader.destroy();
    },
  };
}

/** Passes pieces on and provides the buffer of the next read. */
class Pieces {
  isLate = false;
  #lateBytes = 0;
  #next = 0;
  readonly #buffers = [Buffer.allocUnsafe(PIECE_BYTES), Buffer.allocUnsafe(PIECE_BYTES)];
  readonly #take: (piece: Buffer) => Promise<void>;

  constructor(take: (piece: Buffer) => Promise<void>) {
    this.#take = take;
  }

  /** The buffer that is not in use. Late pieces are not awaited, so each gets a new buffer. */
  buffer(): Buffer {
    this.#next = 1 - this.#next;
    const shared = this.#buffers[this.#next];
    return this.isLate || !shared ? Buffer.allocUnsafe(PIECE_BYTES) : shared;
  }

  /** False if reading must pause. */
  accept(piece: Buffer, reader: Socket): boolean {
    const taken = this.#take(piece);
    if (!this.isLate) {
      void taken.then(() => reader.resume());
      return false;
    }
    this.#lateBytes += piece.length;
    if (this.#lateBytes > LATE_BYTES_MAX) reader.destroy();
    return true;
  }
}

/**
 * Two connected sockets; the second one reads. Only this user can access their path, which is deleted immediately. Rejects if the system has
 * no descriptor left for one of them: the other then waits in vain, or is closed.
 */
async function socketPair(pieces: Pieces): Promise<readonly [Socket, Socket]> {
  const folder = await mkdtemp(join(tmpdir().length <= FOLDER_CHARS_MAX ? tmpdir() : SHORT_FOLDER, 'perdure-pipe-'));
  const server = createServer({ pauseOnConnect: true });
  const signal = AbortSignal.timeout(PAIR_MS_MAX);
  let reader: Socket | undefined;
  try {
    const path = join(folder, 'output');
    server.listen(path);
    await once(server, 'listening', { signal });
    const accepted: Promise<Socket[]> = once(server, 'connection', { signal });
    const connected: Socket = connect({
      path,
      onread: {
        buffer: () => pieces.buffer(),
        callback: (bytes, buffer) => pieces.accept(Buffer.from(buffer.buffer, buffer.byteOffset, bytes), connected),
      },
    });
    reader = connected;
    const refused = once(connected, 'close', { signal }).then(() => Promise.reject(new Error('the pipe for output was closed')));
    const [[writeEnd]] = await Promise.race([Promise.all([accepted, once(connected, 'connect', { signal })]), refused]);
    if (!writeEnd) throw new Error('a connection without a socket');
    return [writeEnd, connected];
  } catch (cause) {
    reader?.destroy();
    throw new Error('FAILED: no pipe for the output of a command could be opened on this worker', { cause });
  } finally {
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
}
