import type { JsonValue } from '../schemas/message.js';

/**
 * The type itself if its values are JSON or become JSON: interfaces, optional properties and objects with `toJSON` too. It is `never` where
 * there is a function, a symbol, a BigInt or `undefined`, and so for the methods of a Map. `unknown` is accepted: nothing is known of it.
 */
export type JsonCompatible<Value> = unknown extends Value
  ? Value
  : Value extends JsonValue | Convertible
    ? Value
    : Value extends (...args: never[]) => unknown
      ? never
      : Value extends object
        ? { [Key in keyof Value]: JsonCompatible<Value[Key]> | Extract<Value[Key], undefined> }
        : never;

/** An object that says itself how it becomes JSON. */
interface Convertible {
  toJSON(...args: never[]): unknown;
}
