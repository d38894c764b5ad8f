/**
 * A text of a stream's event, nothing for what is absent. Throws a TypeError for any other value: added to an answer it would be read as
 * words of the model, such as `undefined`.
 */
export function streamText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw new TypeError(`a ${typeof value} where a text was to be`);
  return value;
}
