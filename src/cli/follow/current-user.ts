import { userInfo } from 'node:os';

/**
 * The name of the user of this process, as other operators see it in decisions and messages. Undefined for a user without an entry in the
 * system's list, such as one that a container was started with.
 */
export function currentUser(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    // such a user has no name
    return undefined;
  }
}

/** The name as the field `by` of a decision. Empty without a name. */
export function decidedBy(): { readonly by?: string } {
  const by = currentUser();
  return by === undefined ? {} : { by };
}
