import type { Response, ResponseOutputItem, ResponseStreamEvent } from 'openai/resources/responses/responses';
import type { Part } from '../../../contracts/schemas/message.js';
import type { StopReason, Usage } from '../../../contracts/schemas/model.js';
import type { StreamDelta } from '../../contract/provider.js';
import { streamText } from '../../http/read-stream.js';
import type { ToolNames } from '../../transcript/tool-names.js';
import { reportedUsage } from '../../transcript/usage.js';
import { ResponsesItem } from './item.js';

/** How the server says that its answer ended. `incomplete`: its output limit cut it. */
type Ending = 'completed' | 'incomplete' | 'content_filter';

/** What an answer is read with. */
export interface ResponsesReading {
  readonly onDelta: (delta: StreamDelta) => void;
  /** Of the tools that were sent: watchers see our own. */
  readonly names: ToolNames;
  /** Who can read the reasoning of this answer. */
  readonly origin: string;
}

/** Puts the events of a response together. Judges nothing. */
export class ResponsesStream {
  readonly #reading: ResponsesReading;
  /** In the order in which they began. */
  readonly #items: ResponsesItem[] = [];
  /** The newest at each place: some servers give one place to several. */
  readonly #places = new Map<number | string, ResponsesItem>();
  #usage: Response['usage'];
  ending: Ending | undefined;
  /** What the server told of the failure of its answer. */
  failure: object | undefined;
  events = 0;

  constructor(reading: ResponsesReading) {
    this.#reading = reading;
  }

  add(event: ResponseStreamEvent): void {
    this.events += 1;
    if (event.type === 'error') this.failure = { code: event.code, message: event.message };
    else if (event.type === 'response.completed' || event.type === 'response.incomplete') this.#end(event.response, event.type);
    else if (event.type === 'response.failed') this.#fail(event.response);
    else if (event.type === 'response.output_item.added') this.#itemOf(event, event.item);
    else if (event.type === 'response.output_item.done') this.#itemOf(event, event.item)?.end(event.item);
    else this.#extend(event);
  }

  /** Nothing more is to come: whether it is an answer or a failure. */
  isComplete(): boolean {
    return this.ending !== undefined || this.failure !== undefined;
  }

  hasCalls(): boolean {
    return this.#items.some((item) => item.isCall);
  }

  hasRefusal(): boolean {
    return this.#items.some((item) => item.isRefusal);
  }

  /** A call began whose end did not come. */
  hasOpenCall(): boolean {
    return this.#items.some((item) => item.isCall && !item.isDone);
  }

  /** True when what came could stand as an answer without the server's word for it: some text, and no call. */
  isText(): boolean {
    return !this.hasCalls() && this.#items.some((item) => item.hasText);
  }

  /**
   * Some servers call an answer completed that their output limit cut. It shows where an item says so; where the limit was reached
   * within a call; and where a text ends with the very last token there was.
   */
  isCutAt(limit: number): boolean {
    if (this.#items.some((item) => item.isCut)) return true;
    const used = this.usage()?.outputTokens ?? 0;
    const last = this.#items.at(-1);
    return last?.isCall ? last.isHalfCall && used >= limit : used === limit;
  }

  /** The parts in order. Of an answer that a filter stopped, a call that it stopped in its middle is no part. */
  parts(stop: StopReason): Part[] {
    const items = stop === 'refusal' ? this.#items.filter((item) => !item.isHalfCall) : this.#items;
    return items.flatMap((item, index) => {
      const following = items.slice(index + 1).find((later) => later.isAnswer);
      return item.part(this.#reading.origin, following?.asFollowing()) ?? [];
    });
  }

  usage(): Usage | undefined {
    if (!this.#usage) return undefined;
    return reportedUsage({
      input: this.#usage.input_tokens,
      output: this.#usage.output_tokens,
      cacheRead: this.#usage.input_tokens_details?.cached_tokens,
      cacheWrite: this.#usage.input_tokens_details?.cache_write_tokens,
      reasoning: this.#usage.output_tokens_details?.reasoning_tokens,
      inputDetails: this.#usage.input_tokens_details,
    });
  }

  /** The item an event speaks of: by its place, which some servers do not tell, or by its id, which some change with each event. */
  #itemOf(
    { output_index: place, item_id: id }: { readonly output_index?: number; readonly item_id?: string },
    item?: ResponseOutputItem,
  ): ResponsesItem | undefined {
    const key = place ?? id ?? item?.id ?? callIdOf(item) ?? this.#items.length;
    const known = this.#places.get(key);
    const isAnother = known?.hasEnded && item?.id !== known.id;
    if (!item || (known && !isAnother)) return known;
    const added = new ResponsesItem(item, this.#reading);
    this.#items.push(added);
    this.#places.set(key, added);
    return added;
  }

  /** Events that are not named here repeat what these say, or are of the server's own tools. */
  #extend(event: ResponseStreamEvent): void {
    if (
      event.type === 'response.output_text.delta' ||
      event.type === 'response.reasoning_summary_text.delta' ||
      event.type === 'response.reasoning_text.delta' ||
      event.type === 'response.function_call_arguments.delta'
    ) {
      this.#itemOf(event)?.extend(streamText(event.delta));
    } else if (event.type === 'response.refusal.delta') this.#itemOf(event)?.refuse(streamText(event.delta));
    else if (event.type === 'response.reasoning_summary_part.added') this.#itemOf(event)?.startParagraph();
    else if (event.type === 'response.function_call_arguments.done') this.#itemOf(event)?.endArguments(event.arguments);
  }

  /** A server may end all its answers with one event, and say only within it how this one ended. */
  #end(response: Response, type: `response.${'completed' | 'incomplete'}`): void {
    const { status, output, usage, incomplete_details } = response;
    if (status === 'failed' || status === 'cancelled') {
      this.#fail(response);
      return;
    }
    const cutBy = incomplete_details?.reason === 'content_filter' ? 'content_filter' : 'incomplete';
    this.ending = type === 'response.completed' && status !== 'incomplete' ? 'completed' : cutBy;
    this.#usage = usage;
    // a server may tell only here what an item came to, or stream no item at all
    const hasStreamed = this.#items.length > 0;
    for (const [place, item] of (output ?? []).entries()) {
      const streamed = hasStreamed
        ? this.#items.find(({ id }) => id !== undefined && id === item.id)
        : this.#itemOf({ output_index: place }, item);
      if (streamed && !streamed.isDone) streamed.end(item);
    }
  }

  #fail({ error, usage }: Response): void {
    this.#usage = usage;
    this.failure = error ?? { message: 'the response failed without a reason' };
  }
}

function callIdOf(item: ResponseOutputItem | undefined): string | undefined {
  return item?.type === 'function_call' ? item.call_id : undefined;
}
