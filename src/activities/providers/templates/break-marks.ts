/** Takes the meaning of a template's marks out of a text, and leaves it readable: a space comes after the first sign of each. */
export function breakMarks(text: string, marks: RegExp): string {
  return text.replaceAll(marks, (mark) => `${mark.slice(0, 1)} ${mark.slice(1)}`);
}
