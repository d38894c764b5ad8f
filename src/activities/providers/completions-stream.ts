import type { Completion } from 'openai/resources/completions';
import type { Usage } from '../../contracts/model.js';
import { FAILED_REASONS } from './finish-reasons.js';
import { ModelError } from './model-error.js';
import type { StreamDelta } from './provider.js';
import { reportedUsage } from './reported-usage.js';
import { streamText } from './stream-text.js';

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
    const reason: string | null | undefined = choice.finish_reason;
    if (FAILED_REASONS.has(reason ?? '')) throw new ModelError('Model.Overloaded', 'the server gave up in its answer');
    if (choice.finish_reason) this.finishReason = choice.finish_reason;
  }

  isComplete(): boolean {
    return this.finishReason !== undefined;
  }

  usage(): Usage | undefined {
    if (!this.#usage) return undefined;
    return reportedUsage({
      input: this.#usage.prompt_tokens,
      output: this.#usage.completion_tokens,
      cacheRead: this.#usage.prompt_tokens_details?.cached_tokens,
      reasoning: this.#usage.completion_tokens_details?.reasoning_tokens,
      inputDetails: this.#usage.prompt_tokens_details,
    });
  }
}
