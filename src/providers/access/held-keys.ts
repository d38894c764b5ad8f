import { CONTENT_LIMITS } from '../../contracts/constants/limits.js';
import type { KnownSecret } from '../../contracts/text/secret-forms.js';

/** The values of a worker's keys, also of those that were rotated: the newest few of each reference. */
export class HeldKeys {
  readonly #values = new Map<string, readonly string[]>();
  #all: readonly KnownSecret[] | undefined;

  /** Adds a value, unless it is empty or known. */
  add(name: string, value: string): void {
    const known = this.#values.get(name) ?? [];
    if (value === '' || known.includes(value)) return;
    this.#values.set(name, [value, ...known].slice(0, CONTENT_LIMITS.secretValuesMax));
    this.#all = undefined;
  }

  /** All values. The same array until one is added. */
  get all(): readonly KnownSecret[] {
    this.#all ??= [...this.#values].flatMap(([name, values]) => values.map((value) => ({ name, value })));
    return this.#all;
  }
}
