/** One server-sent event of the gateway. */
export interface ServerEvent {
  readonly id: string;
  /** The type: that of a run event or of a session event, `text.delta`, `thinking.delta`, `attempt.reset`, `gap` or `result`. */
  readonly type: string;
  readonly data: unknown;
}

/** Reads events out of pieces of text, however the text was cut. Pure but for the unread rest. */
export class EventReader {
  #rest = '';

  /** The events that are complete with this piece. Comments, which keep the connection open, are none. */
  read(piece: string): ServerEvent[] {
    const blocks = `${this.#rest}${piece}`.split('\n\n');
    this.#rest = blocks.pop() ?? '';
    return blocks.flatMap(eventOf);
  }
}

function eventOf(block: string): ServerEvent[] {
  const { id, event: type, data } = fieldsOf(block);
  if (id === undefined || type === undefined || data === undefined) return [];
  return [{ id, type, data: JSON.parse(data) }];
}

/** Only a line feed ends a line: JSON leaves U+2028 and U+2029 as they are. */
function fieldsOf(block: string): { readonly [Name in string]?: string } {
  return Object.fromEntries(
    block.split('\n').map((line) => {
      const end = line.indexOf(': ');
      return end === -1 ? [line, ''] : [line.slice(0, end), line.slice(end + 2)];
    }),
  );
}
