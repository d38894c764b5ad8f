import type { ServerEvent } from '../../define/provider/wire-format.js';
import { objectOf } from '../contract/json-object.js';
import { ModelError } from '../contract/model-error.js';

/** An event without its blank line may be longer than any answer; no server needs more. */
const EVENT_CHARS_MAX = 8 * 1_024 * 1_024;

/**
 * The events of a response, as the standard of server-sent events describes: lines end by LF, CR or CRLF, comments are left out. A last
 * event without its blank line, which some servers omit, is given if its data is JSON: anything else may be half of it.
 */
export async function* serverEvents(response: Response): AsyncGenerator<ServerEvent> {
  let event = '';
  let data: string[] = [];
  for await (const line of linesOf(response)) {
    if (line === '') {
      if (data.length > 0) yield { event: event || 'message', data: data.join('\n') };
      event = '';
      data = [];
    } else {
      const { field, value } = fieldOf(line);
      if (field === 'data') data.push(value);
      if (field === 'event') event = value;
    }
  }
  const last = data.join('\n');
  if (objectOf(last)) yield { event: event || 'message', data: last };
}

function fieldOf(line: string): { readonly field: string; readonly value: string } {
  const colon = line.indexOf(':');
  if (colon === -1) return { field: line, value: '' };
  return { field: line.slice(0, colon), value: line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1) };
}

/** A CR at the end of a chunk may be the first half of a CRLF. */
const LINE_END = /\r\n|\n|\r(?!$)/u;

async function* linesOf({ body }: Response): AsyncGenerator<string> {
  if (!body) return;
  let rest = '';
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    rest += text;
    const lines = rest.split(LINE_END);
    rest = lines.pop() ?? '';
    yield* lines;
    if (rest.length > EVENT_CHARS_MAX)
      throw new ModelError('Model.BadResponse', `the response has a line of more than ${EVENT_CHARS_MAX} characters`);
  }
  yield rest.replace(/\r$/u, '');
}
