import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A way for the output of processes into this one, in memory that does not grow with it. */
export interface OutputPipe {
  /** What processes write to: given to them at their start, and closed here then. */
  readonly writeEnd: Socket;
  /** Resolves when all of them closed it, or it was given up. Never rejects. */
  readonly ended: Promise<void>;
  /** For the end of a command: reads what is left without waiting for anything, up to a bound. */
  hurry(): void;
  /** Reads no more, whoever still writes. */
  giveUp(): void;
}

/** A read takes at most this much; Linux holds no more in a socket than three of these. */
const PIECE_BYTES = 64 * 1_024;

/** After the end of a command there is little left to read; more comes from a process that got away. */
const LATE_BYTES_MAX = 1_024 * 1_024;

/** Paths of sockets have at most 104 bytes on some systems; under a longer folder they meet in the one that POSIX names. */
const FOLDER_CHARS_MAX = 70;
const SHORT_FOLDER = '/tmp';

/**
 * Opens a pipe whose pieces go to `take`, one after another: the next is read when the promise resolves. Node's own pipes make a buffer
 * for each read, and their garbage grows by tens of MB before it is collected; this one reads into two buffers in turn.
 */
export async function openOutputPipe(take: (piece: Buffer) => Promise<void>): Promise<OutputPipe> {
  const pieces = new Pieces(take);
  const [writeEnd, reader] = await socketPair(pieces);
  const ended = new Promise<void>((resolve) => void reader.once('close', resolve));
  // a broken pipe is an end like any other: it closes
  reader.on('error', () => undefined);
  return {
    writeEnd,
    ended,
    hurry: () => {
      pieces.isLate = true;
      reader.resume();
    },
    giveUp: () => {
      writeEnd.destroy();
      reader.destroy();
    },
  };
}

/** Hands pieces on, and says into which memory the next one is read. */
class Pieces {
  isLate = false;
  #lateBytes = 0;
  #next = 0;
  readonly #buffers = [Buffer.allocUnsafe(PIECE_BYTES), Buffer.allocUnsafe(PIECE_BYTES)];
  readonly #take: (piece: Buffer) => Promise<void>;

  constructor(take: (piece: Buffer) => Promise<void>) {
    this.#take = take;
  }

  /** The one that is not taken in right now; late pieces are not waited for, so that each needs its own. */
  buffer(): Buffer {
    this.#next = 1 - this.#next;
    const shared = this.#buffers[this.#next];
    return this.isLate || !shared ? Buffer.allocUnsafe(PIECE_BYTES) : shared;
  }

  /** False when reading must wait. */
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

/** Two connected sockets, of which the second reads. Only this user can reach the place where they meet, and it is gone at once. */
async function socketPair(pieces: Pieces): Promise<readonly [Socket, Socket]> {
  const folder = await mkdtemp(join(tmpdir().length <= FOLDER_CHARS_MAX ? tmpdir() : SHORT_FOLDER, 'perdure-pipe-'));
  const server = createServer({ pauseOnConnect: true });
  try {
    const path = join(folder, 'output');
    server.listen(path);
    await once(server, 'listening');
    const accepted: Promise<Socket[]> = once(server, 'connection');
    const reader: Socket = connect({
      path,
      onread: {
        buffer: () => pieces.buffer(),
        callback: (bytes, buffer) => pieces.accept(Buffer.from(buffer.buffer, buffer.byteOffset, bytes), reader),
      },
    });
    const [[writeEnd]] = await Promise.all([accepted, once(reader, 'connect')]);
    if (!writeEnd) throw new Error('a connection without a socket');
    return [writeEnd, reader];
  } finally {
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
}
