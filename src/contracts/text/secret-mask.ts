import type { JsonValue } from '../schemas/message.js';
import type { KnownSecret } from './secret-forms.js';
import { SecretSearch } from './secret-search.js';

/**
 * Masks a text that comes in pieces.
 *
 * Contract: `push` returns the text that is safe to show, and holds back an end that may be the beginning of a secret. `end` returns the
 * rest, once; half of a secret is masked there too. Neither throws.
 */
export interface SecretStream<Piece> {
  push(piece: Piece): Piece;
  end(): Piece;
}

/**
 * Replaces known secrets by `[secret NAME]`, whatever their form (`secretForms`). All values are found in one pass. The search is made
 * again when the list changes; without values nothing is searched. It never throws.
 */
export class SecretMask {
  readonly #known: () => readonly KnownSecret[];
  #compiledFrom: readonly KnownSecret[] | undefined;
  #search: SecretSearch | undefined;
  #byteSearch: SecretSearch | undefined;

  /** `known` returns the same array until a value is added. */
  constructor(known: () => readonly KnownSecret[] = () => []) {
    this.#known = known;
  }

  /** The text without secrets; the same text when it has none. */
  text(text: string): string {
    return this.#ofTexts()?.mask(text) ?? text;
  }

  /** A JSON value whose texts and keys have no secrets; the same value when it has none. */
  json<Value extends JsonValue | object | undefined>(value: Value): Value {
    const search = this.#ofTexts();
    // a masked value has the same shape
    return search === undefined ? value : (maskJson(value, search) as Value);
  }

  /** Masks a text that comes in pieces. */
  texts(): SecretStream<string> {
    return new MaskedStream(() => this.#ofTexts());
  }

  /** Masks bytes that come in pieces: text in UTF-8, or any other bytes. A piece without a secret is returned as it is. */
  bytes(): SecretStream<Uint8Array> {
    return new MaskedBytes(new MaskedStream(() => this.#ofBytes()));
  }

  #ofTexts(): SecretSearch | undefined {
    this.#compile();
    return this.#search;
  }

  #ofBytes(): SecretSearch | undefined {
    this.#compile();
    return this.#byteSearch;
  }

  #compile(): void {
    const known = this.#known();
    if (known === this.#compiledFrom) return;
    this.#compiledFrom = known;
    this.#search = SecretSearch.of(known);
    this.#byteSearch = SecretSearch.of(known.map(({ name, value }) => ({ name: bytesAsText(name), value: bytesAsText(value) })));
  }
}

/** A mask without secrets, which changes nothing. */
export const NO_SECRETS = new SecretMask();

class MaskedStream implements SecretStream<string> {
  readonly #search: () => SecretSearch | undefined;
  #held = '';

  constructor(search: () => SecretSearch | undefined) {
    this.#search = search;
  }

  push(piece: string): string {
    const text = this.#held + piece;
    const { shown, held } = this.#search()?.split(text) ?? { shown: text, held: '' };
    this.#held = held;
    return shown;
  }

  end(): string {
    const rest = this.#held;
    this.#held = '';
    return this.#search()?.maskEnd(rest) ?? rest;
  }
}

/** Bytes as text with one character for each byte: a secret is found in it whatever the bytes around it are. */
class MaskedBytes implements SecretStream<Uint8Array> {
  readonly #texts: SecretStream<string>;

  constructor(texts: SecretStream<string>) {
    this.#texts = texts;
  }

  push(piece: Uint8Array): Uint8Array {
    const text = Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString('latin1');
    const masked = this.#texts.push(text);
    return masked === text ? piece : Buffer.from(masked, 'latin1');
  }

  end(): Uint8Array {
    return Buffer.from(this.#texts.end(), 'latin1');
  }
}

function bytesAsText(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function maskJson(value: unknown, search: SecretSearch): unknown {
  if (typeof value === 'string') return search.mask(value);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => maskJson(item, search));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  const entries = Object.entries(value);
  const masked = entries.map(([key, item]) => [search.mask(key), maskJson(item, search)] as const);
  const isSame = masked.every(([key, item], index) => key === entries[index]?.[0] && item === entries[index]?.[1]);
  return isSame ? value : Object.fromEntries(masked);
}
