/** JSON-RPC's codes for a request that is refused, and the protocol's own for one that the user rejects. */
export const REFUSAL_CODES = { invalidParams: -32_602, invalidRequest: -32_600, rejected: -1 } as const;

/** The error with which a request of a server is refused. The SDK sends its code and its message. */
export function requestRefusal(code: keyof typeof REFUSAL_CODES, message: string): Error {
  return Object.assign(new Error(message), { code: REFUSAL_CODES[code] });
}

/** The refusal of a request outside of any call that may make it. */
export function refuseOutsideCall(): never {
  throw requestRefusal('invalidRequest', 'only a call may ask');
}

/** Ids of the requests of one attempt of a call: their hashes, numbered where a request is made again. The same in each attempt. */
export class RequestIds {
  readonly #seen = new Map<string, number>();

  next(hash: string): string {
    const times = this.#seen.get(hash) ?? 0;
    this.#seen.set(hash, times + 1);
    return times === 0 ? hash : `${hash}-${times}`;
  }
}
