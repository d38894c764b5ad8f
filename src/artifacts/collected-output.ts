import type { OutputBoundsInput } from '../contracts/activities.js';
import { NO_SECRETS, type SecretMask, type SecretStream } from '../contracts/text/secret-mask.js';
import type { OutputCollector } from '../define/define-tool.js';
import { BoundedOutput } from '../output/bounded-output.js';
import { fitsBounds, measureOutput, truncateOutput } from '../output/truncate-output.js';
import { ArtifactSpool, type ArtifactSpoolOptions } from './artifact-spool.js';

/** Options of `CollectedOutput`. */
export interface CollectedOutputOptions extends ArtifactSpoolOptions {
  readonly bounds: OutputBoundsInput;
  /** Masked in the pieces, before any of them is kept or stored. @default none */
  readonly secrets?: SecretMask;
}

/** Collects an output: keeps its beginning and end in memory, and streams it to an artifact once it exceeds the bounds. */
export class CollectedOutput implements OutputCollector {
  readonly #options: CollectedOutputOptions;
  readonly #ends: BoundedOutput;
  readonly #masked: SecretStream<Uint8Array>;
  #spool: ArtifactSpool | undefined;
  #isOver = false;
  /** The result of `finish`. */
  result: string | undefined;

  constructor(options: CollectedOutputOptions) {
    this.#options = options;
    this.#masked = (options.secrets ?? NO_SECRETS).bytes();
    this.#ends = new BoundedOutput(options.bounds.bytesMax);
  }

  get bytes(): number {
    return this.#ends.bytes;
  }

  write(given: Uint8Array): Promise<void> {
    return this.#isOver ? Promise.resolve() : this.#keep(this.#masked.push(given));
  }

  lastLine(): string {
    return this.#ends.lastLine();
  }

  async finish(title = ''): Promise<string> {
    if (!this.#isOver) void this.#keep(this.#masked.end());
    this.#isOver = true;
    this.result = await this.#end(title === '' ? '' : `${title}\n`);
    return this.result;
  }

  /** Discards the artifact unless the output was finished. */
  abandon(): void {
    this.#isOver = true;
    if (this.result === undefined) this.#spool?.abandon();
  }

  #keep(piece: Uint8Array): Promise<void> {
    if (piece.length === 0) return Promise.resolve();
    const before = this.#spool ? [] : this.#ends.kept();
    this.#ends.append(Buffer.from(piece.buffer, piece.byteOffset, piece.length));
    if (this.#spool) return this.#spool.write(piece);
    if (this.#ends.bytes <= this.#options.bounds.bytesMax) return Promise.resolve();
    return this.#spoolAll([...before, piece]);
  }

  async #end(title: string): Promise<string> {
    const { text, size } = this.#ends.text();
    const bounds = lessTitle(this.#options.bounds, title);
    if (!this.#spool && fitsBounds(text, bounds)) return `${title}${text}`;
    if (!this.#spool) void this.#spoolAll(this.#ends.kept());
    const whole = await this.#spool?.finish();
    return `${title}${truncateOutput(text, bounds, { size, ...(whole === undefined ? {} : { whole }) }).text}`;
  }

  #spoolAll(pieces: readonly Uint8Array[]): Promise<void> {
    const spool = new ArtifactSpool(this.#options);
    this.#spool = spool;
    return pieces.map((piece) => spool.write(piece)).at(-1) ?? Promise.resolve();
  }
}

/** The bounds of the text below a title. */
function lessTitle(bounds: OutputBoundsInput, title: string): OutputBoundsInput {
  const { bytes, lines } = measureOutput(title);
  const { exact } = bounds;
  return {
    ...bounds,
    bytesMax: bounds.bytesMax - bytes,
    linesMax: bounds.linesMax - lines,
    charsMax: bounds.charsMax - title.length,
    ...(exact ? { exact: { above: exact.above - title.length, head: Math.max(0, exact.head - title.length), tail: exact.tail } } : {}),
  };
}
