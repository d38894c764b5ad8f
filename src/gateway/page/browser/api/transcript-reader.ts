import type { Message } from '../../../../contracts/schemas/message.js';
import { type GatewayApi, runPath } from './gateway-api.js';

/** Messages of a transcript. `isWhole`: they are all of them. */
export interface ReadMessages {
  readonly messages: readonly Message[];
  readonly isWhole: boolean;
}

interface Page {
  readonly next: number;
  readonly length: number;
  readonly messages: readonly Message[];
}

/** Reads the transcript of a run, and later what is new in it. */
export class TranscriptReader {
  readonly #api: GatewayApi;
  readonly #path: string;
  /** Index of the next message, and the message before it. */
  #next = 0;
  #last: Message | undefined;

  constructor(api: GatewayApi, runId: string) {
    this.#api = api;
    this.#path = `${runPath(runId)}/transcript`;
  }

  /** The messages since the last call, or all of them at the first one and after a compaction. Throws ApiError. */
  async read(): Promise<ReadMessages> {
    if (!this.#last) return { messages: await this.#from(0), isWhole: true };
    const [first, ...news] = await this.#from(this.#next - 1);
    if (first?.id === this.#last.id) {
      this.#last = news.at(-1) ?? this.#last;
      this.#next += news.length;
      return { messages: news, isWhole: false };
    }
    this.#last = undefined;
    return { messages: await this.#from(0), isWhole: true };
  }

  async #from(from: number): Promise<readonly Message[]> {
    const messages: Message[] = [];
    for (let next = from; ; ) {
      const page = await this.#api.get<Page>(`${this.#path}?from=${next}`);
      messages.push(...page.messages);
      if (page.messages.length === 0 || page.next >= page.length) break;
      next = page.next;
    }
    if (from > 0) return messages;
    this.#next = messages.length;
    this.#last = messages.at(-1);
    return messages;
  }
}
