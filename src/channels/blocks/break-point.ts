import { closingOf, type Fence, type FencedLine, fencedLines } from './code-fence.js';

/** The bounds of one block, in characters of its text. */
export interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** The first paragraph that begins behind the minimal size. */
export function paragraphBreak(lines: readonly FencedLine[], { min, max }: Bounds): number | undefined {
  return lines.find((line, index) => line.at >= min && line.at <= max && beginsParagraph(line, lines[index - 1]))?.at;
}

/**
 * Where a block ends whose limit is inside a code fence: before the fence, so that the next block has it whole. A fence that began with the
 * block is longer than a block: it is closed behind a line. Undefined outside of fences.
 */
export function breakInFence(window: string, lines: readonly FencedLine[], { max }: Bounds): number | undefined {
  const line = lines.find(({ at, end }) => at <= max && end > max) ?? lines.at(-1);
  const fence = line?.before ?? line?.behind;
  if (!fence) return undefined;
  if (fence.at > 0 && window.slice(0, fence.at).trim() !== '') return fence.at;
  const room = max - closingOf(fence).length;
  const content = lines.filter(({ at, before }) => at <= room && before === fence);
  // without a line of code, the fence would be empty
  const first = fence.at < 0 ? 0 : (content[0]?.at ?? 0);
  return content.findLast(({ at }) => at > first)?.at ?? characterBreak(window, room);
}

/** Where a block ends that is at its limit: at the best place behind the minimal size, else at the best place of all. */
export function breakAtLimit(window: string, lines: readonly FencedLine[], { min, max }: Bounds): number {
  const places = placesIn(window, lines, max);
  for (const lowest of [Math.max(min, 1), 1]) {
    const found = places.map((ends) => ends.findLast((end) => end >= lowest)).find((end) => end !== undefined);
    if (found !== undefined) return found;
  }
  return characterBreak(window, max);
}

/** The end of what is finished in a text that stopped arriving: its last paragraph, line or sentence. Undefined inside a code fence. */
export function finishedPart(text: string, fence?: Fence): number | undefined {
  const lines = fencedLines(text, { before: fence, isCut: true });
  if (lines.at(-1)?.behind) return undefined;
  if (/[.!?:…。！？]["')\]*_]*\s*$/u.test(text)) return text.length;
  const [paragraphs, starts, sentences] = placesIn(text, lines, text.length);
  const end = Math.max(0, ...[paragraphs, starts, sentences].map((ends) => ends.at(-1) ?? 0));
  return end === 0 ? undefined : end;
}

function beginsParagraph(line: FencedLine, previous: FencedLine | undefined): boolean {
  return line.before === undefined && !line.isBlank && previous?.isBlank === true;
}

/** Where a block may end outside of code fences: at paragraphs, at lines, behind sentences, behind spaces. */
function placesIn(window: string, lines: readonly FencedLine[], max: number): [number[], number[], number[], number[]] {
  const outside = lines.filter(({ at, before }) => at > 0 && at <= max && before === undefined);
  const paragraphs = outside.filter((line) => beginsParagraph(line, lines[lines.indexOf(line) - 1]));
  const lastFenced = lines.findLast(({ at, before, behind }) => at <= max && (before ?? behind) !== undefined);
  const low = lastFenced?.end ?? 0;
  const behind = (pattern: RegExp): number[] =>
    [...window.slice(low, max).matchAll(pattern)]
      .map(({ index, 0: { length } }) => low + index + length)
      // at the beginning of a block, these would open a fence
      .filter((end) => !/^(?:``|~~)/u.test(window.slice(end)));
  return [paragraphs.map(({ at }) => at), outside.map(({ at }) => at), behind(/[.!?…]["')\]*_]*\s+|[。！？]/gu), behind(/\s+/gu)];
}

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The last place up to a limit that is between two characters as people see them. */
function characterBreak(window: string, limit: number): number {
  let last = 0;
  for (const { index } of GRAPHEMES.segment(window)) {
    if (index > limit) break;
    last = index;
  }
  if (last > 0) return last;
  // one character that is longer than a block
  const isHalf = /[\uDC00-\uDFFF]/.test(window.charAt(limit)) && /[\uD800-\uDBFF]/.test(window.charAt(limit - 1));
  return isHalf ? limit - 1 : limit;
}
