/** A run of backticks or tildes that is not over yet. */
interface Run {
  readonly sign: string;
  readonly length: number;
  readonly startsLine: boolean;
}

interface Fence {
  readonly sign: string;
  readonly length: number;
  /** Its first line is not over: another run of its sign there makes it a span. */
  readonly isNew: boolean;
}

/**
 * Follows a Markdown text sign by sign and knows where code is: in fenced blocks, and in spans between backticks. A span ends with its
 * line at the latest, so that one stray backtick does not make code of all that follows.
 */
export class CodeTracker {
  #startsLine = true;
  #run: Run | undefined;
  #fence: Fence | undefined;
  #spanTicks = 0;

  /** Is the next sign code? It is to be asked before the sign is added. */
  isCodeAt(next: string): boolean {
    if (this.#run && next !== this.#run.sign) this.#endRun(this.#run, next);
    return this.#fence !== undefined || this.#spanTicks > 0 || this.#run !== undefined;
  }

  /** True when nothing but blanks came on this line. */
  get startsLine(): boolean {
    return this.#startsLine && this.#run === undefined;
  }

  add(sign: string): void {
    this.isCodeAt(sign);
    if (sign === '\n') this.#endLine();
    else if (sign === '`' || sign === '~') this.#extendRun(sign);
    else if (sign !== ' ' && sign !== '\t') this.#startsLine = false;
  }

  #extendRun(sign: string): void {
    const { length, startsLine } = this.#run ?? { length: 0, startsLine: this.#startsLine };
    this.#run = { sign, length: length + 1, startsLine };
    this.#startsLine = false;
  }

  #endLine(): void {
    this.#startsLine = true;
    this.#spanTicks = 0;
    if (this.#fence) this.#fence = { ...this.#fence, isNew: false };
  }

  #endRun(run: Run, next: string): void {
    this.#run = undefined;
    if (this.#fence) this.#endRunInFence(this.#fence, run, next);
    else if (run.startsLine && run.length >= 3) this.#fence = { sign: run.sign, length: run.length, isNew: true };
    else if (run.sign === '`') this.#endRunInLine(run);
  }

  #endRunInFence(fence: Fence, run: Run, next: string): void {
    if (run.sign !== fence.sign || run.length < fence.length) return;
    const isEnd = run.startsLine && /[\s<]/u.test(next);
    if (isEnd || (fence.isNew && run.sign === '`')) this.#fence = undefined;
  }

  #endRunInLine({ length }: Run): void {
    if (this.#spanTicks === 0) this.#spanTicks = length;
    else if (this.#spanTicks === length) this.#spanTicks = 0;
  }
}
