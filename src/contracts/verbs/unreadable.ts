const REASON = Symbol.for('perdure.unreadable');

/** Stands for a value whose payload cannot be decoded: no enumerable fields, so that who does not look for it finds an empty object. */
export interface Unreadable {
  readonly [REASON]: string;
}

/** Makes the value that stands for an unreadable payload. `reason`: what is wrong with the payload, one line. */
export function unreadable(reason: string): Unreadable {
  return Object.defineProperty({}, REASON, { value: reason, enumerable: false }) as Unreadable;
}

/** Why a value could not be decoded; undefined for any value that was. Never throws. */
export function unreadableReason(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const reason: unknown = Reflect.get(value, REASON);
  return typeof reason === 'string' ? reason : undefined;
}
