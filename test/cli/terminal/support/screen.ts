import headless from '@xterm/headless';

/** A real terminal without a window: what is written to it is drawn, and its rows can be read. */
export class TestScreen {
  readonly isTTY = true;
  /** All that was written. */
  written = '';
  readonly #terminal: InstanceType<typeof headless.Terminal>;

  constructor(columns = 60, rows = 20) {
    this.#terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true, convertEol: true });
  }

  get columns(): number {
    return this.#terminal.cols;
  }

  get rows(): number {
    return this.#terminal.rows;
  }

  write(text: string): void {
    this.written += text;
    this.#terminal.write(text);
  }

  /** Resizes the terminal, which breaks and joins its rows as terminals do, and tells the process. */
  async resize(columns: number, rows: number): Promise<void> {
    await this.lines();
    this.#terminal.resize(columns, rows);
    process.emit('SIGWINCH');
  }

  /** All rows, those that scrolled away included, without empty ones at the end. */
  async lines(): Promise<string[]> {
    await new Promise<void>((resolve) => this.#terminal.write('', resolve));
    const { active } = this.#terminal.buffer;
    const rows = Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString(true) ?? '');
    return rows.slice(0, rows.findLastIndex((row) => row !== '') + 1);
  }
}

const ESC = '\u001b';
/** What a display writes by itself: erase, move, wrap, cursor and colours. */
const OWN_CODES = new RegExp(String.raw`${ESC}\[(?:J|\d+[AC]|[\d;]*m|\?(?:7|25)[hl])`, 'gu');

/** The control characters in a written text that no display writes by itself. */
export function foreignCodes(written: string): string {
  return written.replaceAll(OWN_CODES, '').replaceAll(/[\r\n]|[^\p{Cc}\p{Cf}]/gu, '');
}
