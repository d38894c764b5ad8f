/**
 * Whether this machine has what a test needs, for `test.runIf`. If not, prints what is missing; the reporter adds the file, and lists the
 * title of the skipped test.
 */
export function hasOrSays(isThere: boolean, what: string): boolean {
  if (!isThere) console.warn(`a test is not tried on this machine, which has no ${what}`);
  return isThere;
}
