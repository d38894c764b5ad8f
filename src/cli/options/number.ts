/** A number from the command line; what is none stays text, so that the check of the option can show what was given. Never throws. */
export function parseNumber(text: string): number | string {
  return /^-?\d+(?:\.\d+)?(?:e\d+)?$/iu.test(text) ? Number(text) : text;
}
