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
  const { id, type, data } = /^id: (?<id>.+)\nevent: (?<type>.+)\ndata: (?<data>.*)$/u.exec(block)?.groups ?? {};
  if (id === undefined || type === undefined || data === undefined) return [];
  return [{ id, type, data: JSON.parse(data) }];
}
