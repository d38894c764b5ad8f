import type { Completion } from 'openai/resources/completions';
import type { Usage } from '../../../contracts/schemas/model.js';
import type { StreamDelta } from '../../contract/provider.js';
import { streamText } from '../../http/read-stream.js';
import { completionUsage } from '../completion-usage.js';
import { finishReasonOf } from '../finish-reason.js';

/** Puts the chunks of a completion together. Judges nothing. */
export class CompletionsStream {
  readonly #onDelta: (delta: StreamDelta) => void;
  #usage: Completion['usage'];
  finishReason: string | undefined;
  text = '';
  events = 0;

  constructor(onDelta: (delta: StreamDelta) => void) {
    this.#onDelta = onDelta;
  }

  add(chunk: Completion): void {
    this.events += 1;
    if (chunk.usage) this.#usage = chunk.usage;
    const choice = chunk.choices?.find(({ index }) => index === 0 || index === undefined);
    if (!choice) return;
    const text = streamText(choice.text);
    if (text !== '') {
      this.text += text;
      this.#onDelta({ type: 'text', text });
    }
    this.finishReason = finishReasonOf(choice) ?? this.finishReason;
  }

  isComplete(): boolean {
    return this.finishReason !== undefined;
  }

  usage(): Usage | undefined {
    return completionUsage(this.#usage);
  }
}
