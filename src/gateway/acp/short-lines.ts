const LINE_END = 0x0a;

/**
 * The lines of an input, each with its end, and what follows the last one. A longer line is left out, reported once, and not kept in memory.
 */
export async function* shortLines(input: AsyncIterable<Buffer>, bytesMax: number, onLong: () => void): AsyncGenerator<Buffer> {
  let kept: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    for (let start = 0; start < chunk.length; ) {
      const at = chunk.indexOf(LINE_END, start);
      const end = at === -1 ? chunk.length : at + 1;
      const wasShort = bytes <= bytesMax;
      bytes += end - start;
      if (bytes <= bytesMax) kept.push(chunk.subarray(start, end));
      else if (wasShort) {
        kept = [];
        onLong();
      }
      if (at !== -1) {
        if (bytes <= bytesMax) yield Buffer.concat(kept);
        kept = [];
        bytes = 0;
      }
      start = end;
    }
  }
  if (kept.length > 0) yield Buffer.concat(kept);
}
