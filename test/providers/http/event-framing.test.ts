import { array, assert, boolean, constantFrom, integer, property, tuple } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventFraming } from '../../../src/providers/http/event-framing.js';

function frames(chunks: readonly Uint8Array[]): { readonly events: string[]; readonly rest: string; readonly open: boolean } {
  const framing = new EventFraming();
  const events = chunks.map((chunk) => framing.add(chunk)).filter((bytes) => bytes !== undefined);
  const open = framing.endsWithinEvent;
  return { events: events.map((bytes) => Buffer.from(bytes).toString()), rest: Buffer.from(framing.rest()).toString(), open };
}

describe('EventFraming', () => {
  it.each(['\n', '\r\n', '\r'])('gives events whole and keeps what is unfinished, lines ended by %j', (end) => {
    const one = `event: a${end}data: 1${end}${end}`;
    const chunks = [one.slice(0, 5), `${one.slice(5)}data: 2`, `${end}${end}`, 'data: 3'];
    expect(frames(chunks.map((chunk) => Buffer.from(chunk)))).toEqual({
      events: [one, `data: 2${end}${end}`],
      rest: 'data: 3',
      open: true,
    });
  });

  it('takes a line feed that comes a chunk later to the event before it', () => {
    expect(frames(['data: 1\r\n\r', '\n', ''].map((chunk) => Buffer.from(chunk)))).toEqual({
      events: ['data: 1\r\n\r', '\n'],
      rest: '',
      open: false,
    });
  });

  it('loses, adds and reorders no byte, and is open exactly when no blank line came last', () => {
    const line = constantFrom('data: x', 'event: y', ': z', '', '');
    const stream = tuple(array(line, { maxLength: 12 }), constantFrom('\n', '\r\n', '\r'), boolean());
    assert(
      property(stream, array(integer({ min: 1, max: 6 }), { minLength: 1 }), ([lines, end, ended], sizes) => {
        const text = lines.join(end) + (ended ? end : '');
        const bytes = Buffer.from(text);
        const chunks: Uint8Array[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          chunks.push(bytes.subarray(at, at + size));
          at += size;
        }
        const { events, rest, open } = frames(chunks);
        expect(events.join('') + rest).toBe(text);
        const ends = text.replaceAll(end, '\n');
        expect(open).toBe(ends !== '' && ends !== '\n' && !/(^|\n)\n$/u.test(ends));
      }),
    );
  });

  it('whatever mix of line ends, and however it is cut: with each chunk all is passed on up to the last blank line so far', () => {
    const piece = constantFrom('x', 'é', '\n', '\n\n', '\r\n', '\r', 'data: y\n\n', 'data: z\r\n\r\n');
    assert(
      property(array(piece, { maxLength: 20 }), array(integer({ min: 1, max: 40 }), { minLength: 1 }), (pieces, sizes) => {
        const bytes = Buffer.from(pieces.join(''));
        const framing = new EventFraming();
        let passed = '';
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const next = Math.min(bytes.length, at + (sizes[turn % sizes.length] ?? 1));
          passed += Buffer.from(framing.add(bytes.subarray(at, next)) ?? []).toString('latin1');
          at = next;
          const soFar = bytes.subarray(0, at).toString('latin1');
          expect(passed).toBe(soFar.slice(0, lastBlankLine(soFar)));
          expect(framing.endsWithinEvent).toBe(passed.length < soFar.length);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

/** Where the last line without anything in it ends. */
function lastBlankLine(text: string): number {
  let at = 0;
  let end = 0;
  for (const line of text.split(/(?<=\r\n|\n|\r(?!\n))/u)) {
    at += line.length;
    if (/^(?:\r\n|\n|\r)$/u.test(line)) end = at;
  }
  return end;
}
