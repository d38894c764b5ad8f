import type { HeartbeatDetails } from '../../contracts/activities.js';
import { NO_USAGE } from '../../contracts/models/usage.js';
import type { ThinkingOutput, Usage } from '../../contracts/schemas/model.js';
import { charsOf } from '../../contracts/text/estimate-tokens.js';
import type { ModelRequest, StreamDelta } from '../../providers/contract/provider.js';
import type { StreamEvent, StreamSink } from '../../streams/stream.js';

/** How much of the text a heartbeat shows. */
const LAST_TEXT_CHARS = 200;

/** What watchers see of an answer. */
export interface Shown {
  /** Nothing but what is told in the end. */
  readonly isWithheld: boolean;
  /** Of its thinking: nothing, a stream of its own, or text between tags. */
  readonly thinkingOutput: ThinkingOutput;
}

const THINKING_BEGINS = '<thinking>';
const THINKING_ENDS = '</thinking>\n';

/** An answer while it streams: passed on to watchers, shown in heartbeats, and estimated when it is lost. */
export class StreamedAnswer {
  readonly #sink: StreamSink;
  readonly #where: Pick<StreamEvent, 'runId' | 'turn' | 'attempt'>;
  readonly #startedAt = Date.now();
  readonly #shown: Shown;
  #isTagOpen = false;
  #seq = 0;
  #outputChars = 0;
  #request: ModelRequest | undefined;
  #inputTokens: number | undefined;
  text = '';

  /** The first event drops what an earlier attempt of the same turn showed. */
  constructor(sink: StreamSink, where: Pick<StreamEvent, 'runId' | 'turn' | 'attempt'>, shown: Shown) {
    this.#sink = sink;
    this.#where = where;
    this.#shown = shown;
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
    if (delta.type === 'thinking') this.#showThinking(delta);
    else if (!this.#shown.isWithheld || delta.type === 'tool_call') this.#show(delta);
  }

  /** Shows watchers a text that was withheld, as it may be kept. */
  tell(text: string): void {
    if (this.#shown.isWithheld && text !== '') this.#publish({ type: 'text', text });
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
    this.#show({ type: 'end' });
    await this.#sink.flush(this.#where.runId);
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

  /** Shows what is no thinking: what was thought before it is over. */
  #show(body: StreamDelta | { readonly type: 'end' }): void {
    if (this.#isTagOpen) this.#publish({ type: 'text', text: THINKING_ENDS });
    this.#isTagOpen = false;
    this.#publish(body);
  }

  #publish(body: StreamDelta | { readonly type: 'reset' | 'end' }): void {
    this.#seq += 1;
    const { runId, turn, attempt } = this.#where;
    const seq = this.#seq;
    // written out: there is one for each word of an answer, and to spread an object takes longer than all else that is done with it
    switch (body.type) {
      case 'text':
      case 'thinking':
        return this.#sink.publish({ runId, turn, attempt, seq, type: body.type, text: body.text });
      case 'tool_call':
        return this.#sink.publish({ runId, turn, attempt, seq, type: body.type, name: body.name });
      case 'reset':
      case 'end':
        return this.#sink.publish({ runId, turn, attempt, seq, type: body.type });
    }
  }
}

function requestChars({ prompt, messages, tools }: ModelRequest): number {
  const said = messages.reduce((sum, { parts }) => sum + charsOf(parts), 0);
  return prompt.length + said + JSON.stringify(tools).length;
}
