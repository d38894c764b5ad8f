import { CONTENT_LIMITS } from '../constants/limits.js';
import { type KnownSecret, type SecretForm, secretForms } from './secret-forms.js';

/** A form of a secret, and its replacement. */
interface LabelledForm extends SecretForm {
  readonly label: string;
}

/** A place of a form where the search stops: three characters, after `offset` others that a line break separates from them. */
interface Anchor {
  readonly form: LabelledForm;
  readonly offset: number;
}

/** A secret in a text. `end` is exclusive. */
interface Found {
  readonly start: number;
  readonly end: number;
  readonly label: string;
}

/** The parts of a text that comes in pieces. */
export interface SplitText {
  readonly shown: string;
  readonly held: string;
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** The size of the table. Three characters are hashed to an index: those that share one cost a comparison. */
const INDEXES = 65_536;

/**
 * The search for all forms of all secrets in one pass. A table tells where a form may begin, so that the time depends on the length of
 * the text and hardly on the number of keys. A regular expression of 20 keys takes seconds to compile.
 */
export class SecretSearch {
  readonly #mayBegin = new Uint8Array(INDEXES);
  readonly #anchors = new Map<number, Anchor[]>();
  readonly #byFirst = new Map<number, LabelledForm[]>();
  readonly #openMax: number;

  /** Undefined when no secret is long enough. */
  static of(known: readonly KnownSecret[]): SecretSearch | undefined {
    const forms = known.flatMap(({ name, value }) => secretForms(value).map((form) => ({ ...form, label: `[secret ${name}]` })));
    return forms.length === 0 ? undefined : new SecretSearch(forms);
  }

  private constructor(forms: readonly LabelledForm[]) {
    // where several forms begin alike, the longest is found
    const sorted = forms.toSorted((a, b) => b.text.length - a.text.length);
    for (const form of sorted) {
      for (const offset of form.wraps ? [0, 1, 2] : [0]) this.#anchor(indexAt(form.text, offset), { form, offset });
      const first = form.text.charCodeAt(0);
      this.#byFirst.set(first, [...(this.#byFirst.get(first) ?? []), form]);
    }
    // the longest form, with the line breaks that may be in it
    this.#openMax = Math.ceil((sorted[0]?.text.length ?? 0) * WRAPPED_FACTOR) + 2;
  }

  /** The text with every secret replaced; the same text when it has none. */
  mask(text: string): string {
    return replaced(text, this.#findAll(text));
  }

  /** The masked part of a text that may be shown, and its end that may be the beginning of a secret. */
  split(text: string): SplitText {
    const found = this.#findAll(text);
    const open = this.#openFrom(text, found);
    const whole = found.filter(({ end }) => end <= open);
    return { shown: replaced(text.slice(0, open), whole), held: text.slice(open) };
  }

  /** The rest of a text that ended. Half of a secret is masked as if it were whole. */
  maskEnd(rest: string): string {
    const masked = this.mask(rest);
    if (masked !== rest || rest.length < CONTENT_LIMITS.secretCharsMin) return masked;
    const forms = this.#byFirst.get(rest.charCodeAt(0));
    return forms?.find((form) => rest.length >= form.text.length / 2 && endOf(form, rest, 0) === 'open')?.label ?? rest;
  }

  #anchor(index: number, anchor: Anchor): void {
    this.#mayBegin[index] = 1;
    this.#anchors.set(index, [...(this.#anchors.get(index) ?? []), anchor]);
  }

  #findAll(text: string): Found[] {
    const found: Found[] = [];
    let from = 0;
    for (let at = 0; at + 2 < text.length; at += 1) {
      if (this.#mayBegin[indexAt(text, at)] === 0) continue;
      const next = this.#findAt(text, at, from);
      if (!next) continue;
      found.push(next);
      from = next.end;
      at = next.end - 1;
    }
    return found;
  }

  #findAt(text: string, at: number, from: number): Found | undefined {
    for (const { form, offset } of this.#anchors.get(indexAt(text, at)) ?? []) {
      const start = offset === 0 ? at : beforeBreak(text, at) - offset;
      const end = start < from ? 'none' : endOf(form, text, start);
      if (typeof end === 'number') return { start, end, label: form.label };
    }
    return undefined;
  }

  /** Where the text must wait for its next piece: at its end when it need not wait. */
  #openFrom(text: string, found: readonly Found[]): number {
    for (let at = Math.max(0, text.length - this.#openMax); at < text.length; at += 1) {
      const forms = this.#byFirst.get(text.charCodeAt(at));
      // a secret that was found whole may still be the beginning of a longer one
      if (!forms || found.some(({ start, end }) => start < at && at < end)) continue;
      if (forms.some((form) => endOf(form, text, at) === 'open')) return at;
    }
    return text.length;
  }
}

/** Lines of base64 have at least 60 characters, and end in up to two. */
const WRAPPED_FACTOR = 1.05;

function indexAt(text: string, at: number): number {
  return ((text.charCodeAt(at) * 961) ^ (text.charCodeAt(at + 1) * 31) ^ (text.charCodeAt(at + 2) << 8)) & (INDEXES - 1);
}

/** Where the line break begins that ends at `at`; -1 without one. */
function beforeBreak(text: string, at: number): number {
  if (text.charCodeAt(at - 1) !== LINE_FEED) return -1;
  return text.charCodeAt(at - 2) === CARRIAGE_RETURN ? at - 2 : at - 1;
}

/** Where the form ends that begins at `start`; `open` when the text ends before it does. */
function endOf({ text: form, wraps }: SecretForm, text: string, start: number): number | 'none' | 'open' {
  let matched = 0;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === form.charCodeAt(matched)) matched += 1;
    else if (!wraps || matched === 0 || (code !== LINE_FEED && code !== CARRIAGE_RETURN)) return 'none';
    if (matched === form.length) return at + 1;
  }
  return matched === 0 ? 'none' : 'open';
}

function replaced(text: string, found: readonly Found[]): string {
  if (found.length === 0) return text;
  const parts = found.flatMap(({ start, label }, index) => [text.slice(found[index - 1]?.end ?? 0, start), label]);
  return [...parts, text.slice(found.at(-1)?.end ?? 0)].join('');
}
