import type { Part } from '../../contracts/schemas/message.js';
import type { StopReason, Usage } from '../../contracts/schemas/model.js';
import { ModelError } from '../contract/model-error.js';
import type { StreamDelta } from '../contract/provider.js';
import { toolCallPart } from '../transcript/parse-arguments.js';
import type { AiSdkModel, AiSdkPart } from './model.js';
import { aiSdkOpaque } from './opaque.js';
import { aiSdkUsage } from './usage.js';

interface Piece {
  readonly kind: 'text' | 'thinking' | 'call' | 'file';
  readonly id: string;
  readonly name: string;
  text: string;
  metadata: object | undefined;
  /** Of a call: its arguments came whole. */
  isWhole: boolean;
}

type PartOf<Type extends AiSdkPart['type']> = Extract<AiSdkPart, { type: Type }>;

/** How an answer ended. `raw` is the server's own word; version 2 does not tell it. */
interface Finish {
  readonly unified: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'interrupted' | 'other' | 'unknown';
  readonly raw: string | undefined;
}

/** Many times the largest answer: more is a server gone mad. */
const ANSWER_CHARS_MAX = 8 * 1_024 * 1_024;

/** What the reader of an answer needs. */
export interface AiSdkStreamOptions {
  /** The model that answers: its provider's metadata is kept with its parts. */
  readonly model: Pick<AiSdkModel, 'provider'>;
  readonly onDelta: (delta: StreamDelta) => void;
  /** The tool that a name in an answer means. */
  readonly ownName: (wireName: string) => string;
}

/** Puts the parts of an answer together. Throws what an error part holds, as it is; judges nothing else. */
export class AiSdkStream {
  readonly #options: AiSdkStreamOptions;
  readonly #pieces: Piece[] = [];
  /** Calls that the provider's own tools answered: they are no calls of ours. */
  readonly #foreign = new Set<string>();
  #chars = 0;
  #finish: Finish | undefined;
  #finishPart: PartOf<'finish'> | undefined;
  requestId: string | undefined;

  constructor(options: AiSdkStreamOptions) {
    this.#options = options;
  }

  add(part: AiSdkPart): void {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        this.#begin(part.type === 'text-start' ? 'text' : 'thinking', part);
        return;
      case 'text-delta':
        this.#extend('text', part);
        return;
      case 'reasoning-delta':
        this.#extend('thinking', part);
        return;
      case 'text-end':
      case 'reasoning-end':
        this.#sign(this.#open(part.type === 'text-end' ? 'text' : 'thinking', part.id), part.providerMetadata);
        return;
      case 'tool-input-start':
        this.#beginCall(part);
        return;
      case 'tool-input-delta':
        this.#extendCall(part);
        return;
      case 'tool-call':
        this.#takeCall(part);
        return;
      case 'file':
        this.#pieces.push({ kind: 'file', id: '', name: part.mediaType, text: '', metadata: undefined, isWhole: true });
        return;
      case 'response-metadata':
        this.requestId = part.id ?? this.requestId;
        return;
      case 'finish':
        this.#finishPart = part;
        this.#finish =
          typeof part.finishReason === 'string'
            ? { unified: part.finishReason, raw: undefined }
            : { unified: part.finishReason.unified, raw: part.finishReason.raw };
        return;
      case 'error':
        throw part.error;
      case 'stream-start':
      case 'tool-input-end':
      case 'tool-result':
      case 'tool-approval-request':
      case 'source':
      case 'custom':
      case 'reasoning-file':
      case 'ping':
      case 'raw':
        return;
    }
  }

  /**
   * True when the provider's package saw the end of the answer. Many packages finish a cut answer too: with `other` and no word of the
   * server's, in version 2 with `unknown`, in version 4 with `interrupted`.
   */
  isComplete(): boolean {
    if (!this.#finish) return false;
    const { unified, raw } = this.#finish;
    return unified !== 'unknown' && unified !== 'interrupted' && !(unified === 'other' && raw === undefined);
  }

  isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  /** The answer is said to end in a call, and one that the provider's own tools answered is not meant. */
  endsInCall(): boolean {
    return this.#finish?.unified === 'tool-calls' && this.#foreign.size === 0;
  }

  /** Throws `Model.Overloaded` for an answer that its provider says has failed. */
  stop(): StopReason {
    const { unified, raw } = this.#finish ?? {};
    if (unified === 'error') throw new ModelError('Model.Overloaded', 'the server reported a failure in its response');
    if (unified === 'length') return 'length';
    if (unified === 'content-filter') return 'refusal';
    if (this.#pieces.some(({ kind }) => kind === 'call')) return 'tool_calls';
    return raw === 'pause_turn' ? 'paused' : 'end';
  }

  parts(): Part[] {
    return this.#pieces.flatMap((piece) => this.#partsOf(piece));
  }

  usage(): Usage | undefined {
    return this.#finishPart && aiSdkUsage(this.#finishPart, this.#options.model);
  }

  #begin(kind: 'text' | 'thinking', { id, providerMetadata }: { readonly id: string; readonly providerMetadata?: object }): Piece {
    const piece: Piece = { kind, id, name: '', text: '', metadata: providerMetadata, isWhole: false };
    this.#pieces.push(piece);
    return piece;
  }

  #open(kind: Piece['kind'], id: string): Piece | undefined {
    return this.#pieces.findLast((piece) => piece.kind === kind && piece.id === id);
  }

  #extend(kind: 'text' | 'thinking', part: PartOf<'text-delta' | 'reasoning-delta'>): void {
    const piece = this.#open(kind, part.id) ?? this.#begin(kind, { id: part.id });
    this.#sign(piece, part.providerMetadata);
    this.#write(piece, part.delta);
    if (part.delta !== '') this.#options.onDelta({ type: kind, text: part.delta });
  }

  /** What came later stands beside what came before: a signature comes at the end of what its start named. */
  #sign(piece: Piece | undefined, metadata: Readonly<Record<string, object>> | undefined): void {
    if (!piece || !metadata) return;
    const before: Readonly<Record<string, object>> = { ...piece.metadata };
    const joined = Object.entries(metadata).map(([name, own]) => [name, { ...before[name], ...own }]);
    piece.metadata = { ...before, ...Object.fromEntries(joined) };
  }

  #beginCall({ id, toolName, providerExecuted, providerMetadata }: PartOf<'tool-input-start'>): void {
    if (providerExecuted) this.#foreign.add(id);
    else this.#addCall(id, toolName, providerMetadata);
  }

  #addCall(id: string, toolName: string, metadata: object | undefined): Piece {
    const name = this.#options.ownName(toolName);
    const call: Piece = { kind: 'call', id, name, text: '', metadata, isWhole: false };
    this.#pieces.push(call);
    this.#options.onDelta({ type: 'tool_call', name });
    return call;
  }

  #extendCall({ id, delta }: PartOf<'tool-input-delta'>): void {
    const call = this.#open('call', id);
    if (call) this.#write(call, delta);
  }

  #takeCall({ toolCallId, toolName, input, providerExecuted, providerMetadata }: PartOf<'tool-call'>): void {
    if (providerExecuted) this.#foreign.add(toolCallId);
    if (this.#foreign.has(toolCallId)) return;
    // a provider's ids are not unique
    const begun = this.#pieces.find(({ kind, id, isWhole }) => kind === 'call' && id === toolCallId && !isWhole);
    const call = begun ?? this.#addCall(toolCallId, toolName, undefined);
    call.isWhole = true;
    call.text = '';
    this.#write(call, input);
    this.#sign(call, providerMetadata);
  }

  #write(piece: Piece, text: string): void {
    piece.text += text;
    this.#chars += text.length;
    if (this.#chars > ANSWER_CHARS_MAX)
      throw new ModelError('Model.BadResponse', `the response is too large: more than ${this.#chars} characters`);
  }

  #partsOf({ kind, id, name, text, metadata }: Piece): Part[] {
    switch (kind) {
      case 'text':
        return text === '' ? [] : [{ type: 'text', text }];
      case 'thinking':
        return text === '' && !metadata ? [] : [{ type: 'thinking', text, opaque: aiSdkOpaque(this.#options.model.provider, metadata) }];
      case 'call':
        return [{ ...toolCallPart(id, name, text), ...(metadata ? { opaque: aiSdkOpaque(this.#options.model.provider, metadata) } : {}) }];
      case 'file':
        // a transcript must be readable for every provider, and few take files from a model
        return [{ type: 'text', text: `[the model made a file of type ${name}, which is not kept]` }];
    }
  }
}
