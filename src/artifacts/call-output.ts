import type { OutputBoundsInput } from '../contracts/activities.js';
import type { ContentPart, TextPart } from '../contracts/schemas/message.js';
import { cleanText } from '../contracts/text/sanitize-text.js';
import type { SecretMask } from '../contracts/text/secret-mask.js';
import type { OutputCollector, ToolOutput } from '../define/define-tool.js';
import { fitsBounds, truncateOutput } from '../output/truncate-output.js';
import { ArtifactSpool, type ArtifactSpoolOptions } from './artifact-spool.js';
import { CollectedOutput } from './collected-output.js';

/** The longest text that a tool adds around a truncated output, such as `timed out after 45s: `. */
const AROUND_CHARS_MAX = 300;

/** Options of `CallOutput`. */
export interface CallOutputOptions extends ArtifactSpoolOptions {
  /** Masked in collected outputs. The parts given to `bounded` are masked before. @default none */
  readonly secrets?: SecretMask;
}

/** The text output of one tool call: truncates it for the model and stores the full output as an artifact. */
export class CallOutput implements ToolOutput {
  readonly bytesMax: number;
  readonly linesMax: number;
  readonly #bounds: OutputBoundsInput;
  readonly #spool: CallOutputOptions;
  readonly #collectors: CollectedOutput[] = [];

  constructor(bounds: OutputBoundsInput, spool: CallOutputOptions) {
    const { bytesMax, charsMax, linesMax, exact } = bounds;
    // each character has at least one byte, so the smaller of both limits holds for bytes and for characters
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

  /** Ends the call. Abandons collectors that the tool did not finish. */
  close(): void {
    for (const collector of this.#collectors) collector.abandon();
  }

  /**
   * Truncates the texts of a result to the shared bounds. Joins the texts to one if they exceed the bounds together. `keep` is the part
   * that is kept, unless the policy names one.
   */
  async bounded(parts: readonly ContentPart[], keep?: 'head-tail'): Promise<ContentPart[]> {
    const clean = parts.map((part) => (part.type === 'text' ? textPart(cleanText(part.text)) : part));
    const texts = clean.filter((part) => part.type === 'text').map(({ text }) => text);
    const all = texts.join('\n');
    if (texts.length === 0 || this.#isBounded(all)) return clean;
    const [first] = texts.length === 1 ? texts : [all];
    const cut = textPart(await this.#cut(first ?? '', keep));
    const index = clean.findIndex(({ type }) => type === 'text');
    return [...clean.slice(0, index), cut, ...clean.slice(index).filter(({ type }) => type !== 'text')];
  }

  #isBounded(text: string): boolean {
    if (fitsBounds(text, this.#bounds)) return true;
    // the output of a collector is already within the bounds, with its footer; the tool may have trimmed it
    const collected = this.#collectors.flatMap(({ result }) => (result === undefined ? [] : [result.trimEnd()]));
    return collected.some((own) => text.includes(own) && text.length - own.length <= AROUND_CHARS_MAX);
  }

  async #cut(text: string, keep: 'head-tail' | undefined): Promise<string> {
    const whole = await new ArtifactSpool(this.#spool).finishWith(text);
    const bounds = keep !== undefined && this.#bounds.keep === 'auto' ? { ...this.#bounds, keep } : this.#bounds;
    return truncateOutput(text, bounds, { whole }).text;
  }
}

function textPart(text: string): TextPart {
  return { type: 'text', text };
}
