import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { z } from 'zod';
import type { Part } from '../../../contracts/schemas/message.js';
import type { Usage } from '../../../contracts/schemas/model.js';
import type { StreamDelta } from '../../contract/provider.js';
import { streamText } from '../../http/read-stream.js';
import { parseArgumentsText, toolCallPart } from '../../transcript/parse-arguments.js';
import { type TaggedPiece, ThinkTags } from '../../transcript/think-tags.js';
import type { ToolNames } from '../../transcript/tool-names.js';
import { completionUsage } from '../completion-usage.js';
import { finishReasonOf } from '../finish-reason.js';
import { detailedCall, type ReasoningDetail, reasoningDetailsIn, signatureIn, signedCall } from './reasoning.js';

/** A piece of a content that is a list, as Mistral's thinking models send it. */
const ContentPiece = z.object({
  type: z.string(),
  text: z.string().optional(),
  thinking: z.array(z.object({ text: z.string().optional() })).optional(),
});

interface OpenCall {
  readonly index: number | undefined;
  readonly id: string;
  name: string;
  arguments: string;
  signature: string | undefined;
}

type CallPiece = NonNullable<ChatCompletionChunk.Choice.Delta['tool_calls']>[number];

/** What the reader of an answer must know of its request and server. */
export interface OpenAiStreamOptions {
  readonly onDelta: (delta: StreamDelta) => void;
  readonly names: Pick<ToolNames, 'own'>;
  /** Text between these tags is thinking; undefined: none is. */
  readonly thinkTag: string | undefined;
  /** The server signs calls, and wants to see its signatures again. @default false */
  readonly thoughtSignatures?: boolean | undefined;
  /** The server sends reasoning encrypted, and wants to see it again. @default false */
  readonly reasoningDetails?: boolean | undefined;
}

/** Puts the chunks of a chat completion together. Judges nothing. */
export class OpenAiStream {
  readonly #onDelta: (delta: StreamDelta) => void;
  readonly #names: Pick<ToolNames, 'own'>;
  readonly #tags: ThinkTags | undefined;
  readonly #isSigned: boolean;
  readonly #isDetailed: boolean;
  readonly #details: ReasoningDetail[] = [];
  readonly #calls: OpenCall[] = [];
  /** Of the answer, for its first call. */
  #signature: string | undefined;
  #text = '';
  #thinking = '';
  #usage: ChatCompletionChunk['usage'];
  finishReason: string | undefined;
  /** What the server told of a failure, by an event of its own. */
  failure: object | undefined;
  refused = false;
  events = 0;

  constructor({ onDelta, names, thinkTag, thoughtSignatures = false, reasoningDetails = false }: OpenAiStreamOptions) {
    this.#onDelta = onDelta;
    this.#names = names;
    this.#tags = thinkTag === undefined ? undefined : new ThinkTags(thinkTag);
    this.#isSigned = thoughtSignatures;
    this.#isDetailed = reasoningDetails;
  }

  add(chunk: ChatCompletionChunk): void {
    this.events += 1;
    if (chunk.usage) this.#usage = chunk.usage;
    const kind: string = chunk.object;
    if (kind === 'error') this.failure = chunk;
    const choice = chunk.choices?.find(({ index }) => index === 0 || index === undefined);
    if (!choice) return;
    const { delta } = choice;
    this.#addContent(delta?.content);
    this.#addText(delta?.refusal);
    if (delta?.refusal) this.refused = true;
    this.#addThinking(reasoningOf(delta));
    if (this.#isSigned && delta) this.#signature ??= signatureIn(delta);
    if (this.#isDetailed && delta) this.#details.push(...reasoningDetailsIn(delta));
    for (const call of delta?.tool_calls ?? []) this.#addCall(call);
    this.finishReason = finishReasonOf(choice) ?? this.finishReason;
  }

  /** No more chunks will come: what was held back until it was clear what it is, is text or thinking now. */
  end(): void {
    this.#addTagged(this.#tags?.end() ?? []);
  }

  isComplete(): boolean {
    return this.finishReason !== undefined;
  }

  hasCalls(): boolean {
    return this.#calls.length > 0;
  }

  /** True when what came could stand as an answer: some text, and no call whose end is unknown. */
  isWhole(): boolean {
    return this.#text !== '' && this.#calls.length === 0;
  }

  parts(): Part[] {
    const thinking: Part[] = this.#thinking === '' ? [] : [{ type: 'thinking', text: this.#thinking }];
    const text: Part[] = this.#text === '' ? [] : [{ type: 'text', text: this.#text }];
    const calls = this.#calls.map((call, index) => {
      const part = detailedCall(toolCallPart(call.id, this.#names.own(call.name), call.arguments), this.#details);
      return signedCall(part, call.signature ?? (index === 0 ? this.#signature : undefined));
    });
    return [...thinking, ...text, ...calls];
  }

  usage(): Usage | undefined {
    return completionUsage(this.#usage);
  }

  /** Some servers send their content in typed pieces, and thinking among them. */
  #addContent(content: unknown): void {
    if (typeof content === 'string') {
      if (this.#tags) this.#addTagged(this.#tags.add(content));
      else this.#addText(content);
    } else if (Array.isArray(content)) {
      for (const { type, text, thinking } of content.flatMap((piece) => ContentPiece.safeParse(piece).data ?? [])) {
        if (type === 'thinking') this.#addThinking((thinking ?? []).map((part) => part.text ?? '').join(''));
        else this.#addText(text);
      }
    }
  }

  #addTagged(pieces: readonly TaggedPiece[]): void {
    for (const piece of pieces) {
      if (piece.type === 'text') this.#addText(piece.text);
      else if (piece.type === 'thinking') this.#addThinking(piece.text);
      else this.#reclaim();
    }
  }

  /** Watchers saw it as text; what is kept is thinking. */
  #reclaim(): void {
    this.#thinking += this.#text;
    this.#text = '';
  }

  #addText(text: string | null | undefined): void {
    if (!text) return;
    this.#text += text;
    this.#onDelta({ type: 'text', text });
  }

  #addThinking(text: string): void {
    if (text === '') return;
    this.#thinking += text;
    this.#onDelta({ type: 'thinking', text });
  }

  #addCall(piece: CallPiece): void {
    const call = this.#callOf(piece);
    const name = streamText(piece.function?.name);
    const more = streamText(piece.function?.arguments);
    if (!isRepeated(call, more)) call.arguments += more;
    if (this.#isSigned) call.signature ??= signatureIn(piece);
    // some servers repeat the whole name with each piece
    if (name === '' || name === call.name) return;
    call.name += name;
    this.#onDelta({ type: 'tool_call', name: this.#names.own(call.name) });
  }

  /** The call a piece belongs to. Some servers give no index, or the same one to all calls. */
  #callOf(piece: CallPiece): OpenCall {
    const { index, id } = piece;
    const open = this.#calls.findLast((call) => call.index === index);
    if (open && !startsAnother(open, piece)) return open;
    const call = { index, id: streamText(id) || `call_${this.#calls.length}`, name: '', arguments: '', signature: undefined };
    this.#calls.push(call);
    return call;
  }
}

/** A new id with a name starts a new call; where there is no id, a name with more arguments behind some that are whole does. */
function startsAnother(open: OpenCall, { id, function: named }: CallPiece): boolean {
  if (!named?.name) return false;
  if (id) return open.id !== id;
  return streamText(named.arguments).trim() !== '' && isWhole(open.arguments);
}

/** Some servers send the whole arguments once more when all their pieces were sent. */
function isRepeated({ arguments: sent }: OpenCall, more: string): boolean {
  return more === sent && isWhole(sent);
}

function isWhole(text: string): boolean {
  return text.trimEnd().endsWith('}') && 'args' in parseArgumentsText(text);
}

/** Compatible servers send reasoning under a field of their own. */
function reasoningOf(delta: ChatCompletionChunk.Choice.Delta | undefined): string {
  if (!delta) return '';
  for (const field of ['reasoning_content', 'reasoning']) {
    const value: unknown = Reflect.get(delta, field);
    if (typeof value === 'string' && value !== '') return value;
  }
  return '';
}
