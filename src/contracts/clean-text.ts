/** Text made fit for every store and wire: well-formed Unicode, NUL shown as its symbol. Never throws. */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\u2400');
}
