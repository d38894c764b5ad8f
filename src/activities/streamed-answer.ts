import type { HeartbeatDetails } from '../contracts/activities.js';
import type { Usage } from '../contracts/model.js';
import { NO_USAGE } from '../contracts/no-usage.js';
import type { StreamEvent, StreamSink } from '../streams/stream-sink.js';
import type { ModelRequest, StreamDelta } from './providers/provider.js';

/** How much of the text a heartbeat shows. */
const LAST_TEXT_CHARS = 200;

/** An answer while it streams: passed on to watchers, shown in heartbeats, and estimated when it is lost. */
export class StreamedAnswer {
  readonly #sink: StreamSink;
  readonly #where: Pick<StreamEvent, 'runId' | 'turn' | 'attempt'>;
  readonly #startedAt = Date.now();
  readonly #isWithheld: boolean;
  #seq = 0;
  #outputChars = 0;
  #request: ModelRequest | undefined;
  #inputTokens: number | undefined;
  text = '';

  /** The first event drops what an earlier attempt of the same turn showed. `isWithheld`: watchers see nothing but what is told. */
  constructor(sink: StreamSink, where: Pick<StreamEvent, 'runId' | 'turn' | 'attempt'>, isWithheld: boolean) {
    this.#sink = sink;
    this.#where = where;
    this.#isWithheld = isWithheld;
    this.#publish({ type: 'reset' });
  }

  /** The request is about to be sent: from here on a loss costs money. */
  asked(request: ModelRequest): void {
    this.#request = request;
  }

  get started(): boolean {
    return this.#request !== undefined;
  }

  add(delta: StreamDelta): void {
    if (delta.type === 'text') this.text += delta.text;
    this.#outputChars += delta.type === 'tool_call' ? delta.name.length : delta.text.length;
    if (!this.#isWithheld || delta.type === 'tool_call') this.#publish(delta);
  }

  /** Shows watchers a text that was withheld, as it may be kept. */
  tell(text: string): void {
    if (this.#isWithheld && text !== '') this.#publish({ type: 'text', text });
  }

  /** Four characters a token: for servers that report no usage, and for attempts that were lost. */
  estimate(): Usage {
    if (!this.#request) return NO_USAGE;
    // counted once and only when somebody asks: most calls end before their second heartbeat, with the server's own numbers
    this.#inputTokens ??= Math.ceil(requestChars(this.#request) / 4);
    return { ...NO_USAGE, inputTokens: this.#inputTokens, outputTokens: Math.ceil(this.#outputChars / 4) };
  }

  /** What a failed attempt is charged: it was answered only once something of its answer came. */
  spent(): Usage {
    return this.#outputChars === 0 ? NO_USAGE : this.estimate();
  }

  progress(): HeartbeatDetails {
    return {
      phase: this.started ? 'model' : 'transcript',
      elapsedMs: Date.now() - this.#startedAt,
      tokens: Math.ceil(this.#outputChars / 4),
      lastText: this.text.slice(-LAST_TEXT_CHARS),
    };
  }

  async end(): Promise<void> {
    this.#publish({ type: 'end' });
    await this.#sink.flush(this.#where.runId);
  }

  #publish(body: StreamDelta | { readonly type: 'reset' | 'end' }): void {
    this.#seq += 1;
    this.#sink.publish({ ...this.#where, seq: this.#seq, ...body });
  }
}

function requestChars({ prompt, messages, tools }: ModelRequest): number {
  return prompt.length + JSON.stringify(messages).length + JSON.stringify(tools).length;
}
