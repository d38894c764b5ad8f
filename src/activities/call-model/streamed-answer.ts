import type { HeartbeatDetails } from '../../contracts/activities.js';
import { NO_USAGE } from '../../contracts/models/usage.js';
import type { ThinkingOutput, Usage } from '../../contracts/schemas/model.js';
import { charsOf } from '../../contracts/text/estimate-tokens.js';
import { NO_SECRETS, type SecretMask, type SecretStream } from '../../contracts/text/secret-mask.js';
import type { ModelRequest, StreamDelta } from '../../providers/contract/provider.js';
import type { StreamEvent, StreamSink } from '../../streams/stream.js';

/** The length of the text in a heartbeat. */
const LAST_TEXT_CHARS = 200;

/** The parts of an answer that watchers see. */
export interface Shown {
  /** True: text is withheld until `showWithheld`. */
  readonly isWithheld: boolean;
  /** Thinking is suppressed, streamed apart, or text between tags. */
  readonly thinkingOutput: ThinkingOutput;
  /** Masked in all that is shown. A secret may be cut between two pieces. @default none */
  readonly secrets?: SecretMask;
}

/** The attempt that streams. `isFinal`: the reserved final answer, which has the number of the last turn. */
type Attempt = Pick<StreamEvent, 'runId' | 'turn' | 'attempt' | 'epoch'> & { readonly isFinal?: boolean };

const THINKING_BEGINS = '<thinking>';
const THINKING_ENDS = '</thinking>\n';

/** An answer while it streams: published to watchers, shown in heartbeats, and the basis of usage estimates. */
export class StreamedAnswer {
  readonly #sink: StreamSink;
  readonly #where: Attempt;
  readonly #startedAt = Date.now();
  readonly #shown: Shown;
  #isTagOpen = false;
  #seq = 0;
  #outputChars = 0;
  #request: ModelRequest | undefined;
  #inputTokens: number | undefined;
  readonly #masked: Readonly<Record<'text' | 'thinking', SecretStream<string>>>;
  #open: 'text' | 'thinking' | undefined;
  text = '';

  /** Publishes `reset` first, so that watchers drop the partial text of an earlier attempt of the same turn. */
  constructor(sink: StreamSink, where: Attempt, shown: Shown) {
    this.#sink = sink;
    this.#where = where;
    this.#shown = shown;
    const { secrets = NO_SECRETS } = shown;
    this.#masked = { text: secrets.texts(), thinking: secrets.texts() };
    this.#publish({ type: 'reset' });
  }

  /** Records the request directly before it is sent: from now on a lost attempt is charged. */
  requested(request: ModelRequest): void {
    this.#request = request;
  }

  get started(): boolean {
    return this.#request !== undefined;
  }

  add(delta: StreamDelta): void {
    this.#outputChars += delta.type === 'tool_call' ? delta.name.length : delta.text.length;
    if (this.#open !== delta.type) this.settle();
    if (delta.type === 'tool_call') {
      this.#show(delta);
      return;
    }
    this.#open = delta.type;
    this.#add(delta.type, this.#masked[delta.type].push(delta.text));
  }

  /** Shows what was held back, because it could have been the beginning of a secret. Returns the whole text so far. */
  settle(): string {
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined) this.#add(open, this.#masked[open].end());
    return this.text;
  }

  /** Publishes a withheld text, as the hooks left it. */
  showWithheld(text: string): void {
    if (this.#shown.isWithheld && text !== '') this.#publish({ type: 'text', text });
  }

  /** Estimated usage, at four characters a token: for servers that report none, and for lost attempts. */
  estimate(): Usage {
    if (!this.#request) return NO_USAGE;
    // counted once and on demand: most calls end before their second heartbeat, with the server's own numbers
    this.#inputTokens ??= Math.ceil(requestChars(this.#request) / 4);
    return { ...NO_USAGE, inputTokens: this.#inputTokens, outputTokens: Math.ceil(this.#outputChars / 4) };
  }

  /** The usage of a failed attempt: none, unless a part of the answer arrived. */
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
    this.settle();
    this.#show({ type: 'end' });
    await this.#sink.flush(this.#where.runId);
  }

  #add(type: 'text' | 'thinking', text: string): void {
    if (text === '') return;
    if (type === 'thinking') {
      this.#showThinking({ type, text });
      return;
    }
    this.text += text;
    if (!this.#shown.isWithheld) this.#show({ type, text });
  }

  #showThinking(delta: StreamDelta & { readonly type: 'thinking' }): void {
    const { isWithheld, thinkingOutput } = this.#shown;
    if (isWithheld || thinkingOutput === 'suppressed') return;
    if (thinkingOutput === 'apart') {
      this.#publish(delta);
      return;
    }
    this.#publish({ type: 'text', text: this.#isTagOpen ? delta.text : THINKING_BEGINS + delta.text });
    this.#isTagOpen = true;
  }

  /** Publishes anything but thinking, and closes an open thinking tag first. */
  #show(body: StreamDelta | { readonly type: 'end' }): void {
    if (this.#isTagOpen) this.#publish({ type: 'text', text: THINKING_ENDS });
    this.#isTagOpen = false;
    this.#publish(body);
  }

  #publish(body: StreamDelta | { readonly type: 'reset' | 'end' }): void {
    this.#seq += 1;
    const { runId, turn, attempt, epoch, isFinal } = this.#where;
    const seq = this.#seq;
    // written out, because this runs for every word of an answer and object spread would dominate its cost
    switch (body.type) {
      case 'text':
      case 'thinking':
        return this.#sink.publish({ runId, turn, attempt, epoch, seq, type: body.type, text: body.text });
      case 'tool_call':
        return this.#sink.publish({ runId, turn, attempt, epoch, seq, type: body.type, name: body.name });
      case 'reset':
        return this.#sink.publish({ runId, turn, attempt, epoch, seq, type: body.type, ...(isFinal ? { final: true } : {}) });
      case 'end':
        return this.#sink.publish({ runId, turn, attempt, epoch, seq, type: body.type });
    }
  }
}

function requestChars({ prompt, messages, tools }: ModelRequest): number {
  const messageChars = messages.reduce((sum, { parts }) => sum + charsOf(parts), 0);
  return prompt.length + messageChars + JSON.stringify(tools).length;
}
