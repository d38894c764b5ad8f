import type { OutputBoundsInput } from '../contracts/activities.js';
import type { ContentPart, TextPart } from '../contracts/schemas/message.js';
import { cleanText } from '../contracts/text/sanitize-text.js';
import type { OutputCollector, ToolOutput } from '../define/define-tool.js';
import { fitsBounds, truncateOutput } from '../output/truncate-output.js';
import { ArtifactSpool, type ArtifactSpoolOptions } from './artifact-spool.js';
import { CollectedOutput } from './collected-output.js';

/** What is put before or after a text that was cut already, such as `timed out after 45s: `. */
const AROUND_CHARS_MAX = 300;

/** All the text of one tool call: what the model reads of it, and what is kept beside the transcript. */
export class CallOutput implements ToolOutput {
  readonly bytesMax: number;
  readonly linesMax: number;
  readonly #bounds: OutputBoundsInput;
  readonly #spool: ArtifactSpoolOptions;
  readonly #collectors: CollectedOutput[] = [];

  constructor(bounds: OutputBoundsInput, spool: ArtifactSpoolOptions) {
    const { bytesMax, charsMax, linesMax, exact } = bounds;
    // a character has a byte at least: what has few enough bytes fits whatever is counted
    this.bytesMax = exact ? exact.above : Math.min(bytesMax, charsMax);
    this.linesMax = exact ? exact.above : linesMax;
    this.#bounds = bounds;
    this.#spool = spool;
  }

  collect({ keep }: { readonly keep?: 'head' | 'tail' | 'head-tail' } = {}): OutputCollector {
    const bounds = keep !== undefined && this.#bounds.keep === 'auto' ? { ...this.#bounds, keep } : this.#bounds;
    const collector = new CollectedOutput({ ...this.#spool, bounds });
    this.#collectors.push(collector);
    return collector;
  }

  /** The call is over: what its tool began to collect and did not finish is given up. */
  close(): void {
    for (const collector of this.#collectors) collector.abandon();
  }

  /** The parts of a result with their texts within the bounds, which they share: texts that are too large together become one. */
  async bounded(parts: readonly ContentPart[]): Promise<ContentPart[]> {
    const clean = parts.map((part) => (part.type === 'text' ? textPart(cleanText(part.text)) : part));
    const texts = clean.filter((part) => part.type === 'text').map(({ text }) => text);
    const all = texts.join('\n');
    if (texts.length === 0 || this.#isBounded(all)) return clean;
    const [first] = texts.length === 1 ? texts : [all];
    const cut = textPart(await this.#cut(first ?? ''));
    const place = clean.findIndex(({ type }) => type === 'text');
    return [...clean.slice(0, place), cut, ...clean.slice(place).filter(({ type }) => type !== 'text')];
  }

  #isBounded(text: string): boolean {
    if (fitsBounds(text, this.#bounds)) return true;
    // what a collector gave is within the bounds, with its footer; the tool may have trimmed it
    const collected = this.#collectors.flatMap(({ result }) => (result === undefined ? [] : [result.trimEnd()]));
    return collected.some((own) => text.includes(own) && text.length - own.length <= AROUND_CHARS_MAX);
  }

  async #cut(text: string): Promise<string> {
    const whole = await new ArtifactSpool(this.#spool).finishWith(text);
    return truncateOutput(text, this.#bounds, { whole }).text;
  }
}

function textPart(text: string): TextPart {
  return { type: 'text', text };
}
