import { describe, expect, it } from 'vitest';
import { STREAM_LIMITS } from '../../src/contracts/constants/limits.js';
import type { StreamEvent } from '../../src/streams/stream.js';
import { StreamBuffer } from '../../src/streams/stream-buffer.js';
import { latch, until } from '../support/use-workers.js';
import { other, shown, text } from './support/stream-events.js';

/** A store that answers when the test lets it. */
function stalled() {
  const gate = latch();
  const written: StreamEvent[] = [];
  const errors: unknown[] = [];
  const calls: number[] = [];
  let open = 0;
  const buffer = new StreamBuffer({
    write: async (_runId, events) => {
      open += 1;
      calls.push(open);
      await gate.opened;
      written.push(...events);
      open -= 1;
    },
    onError: (error) => errors.push(error),
  });
  return { buffer, gate, written, errors, calls };
}

describe('StreamBuffer', () => {
  it('a store that does not answer costs at most the bound of a run, and the rest is dropped from the end', async () => {
    const { buffer, gate, written } = stalled();
    buffer.publish(other(1, 'reset'));
    const piece = 'x'.repeat(100_000);
    for (let seq = 2; seq < 200; seq += 1) buffer.publish(text(seq, piece));
    expect(buffer.bytes).toBeGreaterThan(STREAM_LIMITS.bufferedBytesMax);
    expect(buffer.bytes).toBeLessThan(STREAM_LIMITS.bufferedBytesMax + 2 * piece.length);
    gate.open();
    await buffer.flush('run-1');
    expect(buffer.bytes).toBe(0);
    expect(shown(written).length).toBeLessThan(STREAM_LIMITS.bufferedBytesMax + 2 * piece.length);
    // readers see that the rest is missing
    buffer.publish(text(200, 'after'));
    await buffer.flush('run-1');
    expect(written.at(-1)).toMatchObject({ text: 'after', seq: 200 });
    expect(written.at(-1)).not.toHaveProperty('firstSeq');
  });

  it('many runs cost at most the bound of the sink, however small their last events are', async () => {
    const { buffer, gate, written } = stalled();
    const piece = 'x'.repeat(1_000_000);
    for (let run = 0; buffer.bytes < STREAM_LIMITS.sinkBytesMax - piece.length; run += 1) {
      buffer.publish({ ...text(1, piece), runId: `large ${run}` });
    }
    const runs = 10_000;
    for (let run = 0; run < runs; run += 1) buffer.publish(other(1, 'reset', { runId: `small ${run}` }));
    expect(buffer.bytes).toBeGreaterThan(STREAM_LIMITS.sinkBytesMax);
    expect(buffer.bytes).toBeLessThan(STREAM_LIMITS.sinkBytesMax + 1_000);
    gate.open();
    await until(() => buffer.bytes === 0);
    expect(written.length).toBeLessThan(runs);
  });

  it('writes one batch of a run at a time, and collects what comes meanwhile', async () => {
    const { buffer, gate, written, calls } = stalled();
    buffer.publish(other(1, 'reset'));
    const flushed = buffer.flush('run-1');
    for (let seq = 2; seq < 50; seq += 1) buffer.publish(text(seq, 'a'));
    gate.open();
    await flushed;
    expect(calls).toEqual([1, 1]);
    expect(written).toMatchObject([{ type: 'reset' }, { firstSeq: 2, seq: 49 }]);
  });

  it('text of two attempts, and text with a hole between, is not merged', async () => {
    const { buffer, gate, written } = stalled();
    gate.open();
    for (const event of [text(2, 'a'), text(2, 'b', { epoch: 2_000 }), text(4, 'c', { epoch: 2_000 })]) buffer.publish(event);
    await buffer.flush('run-1');
    expect(written.map(({ seq }) => seq)).toEqual([2, 2, 4]);
  });

  it('a write that fails costs its events, and is reported', async () => {
    const errors: unknown[] = [];
    const buffer = new StreamBuffer({ write: () => Promise.reject(new Error('full')), onError: (error) => errors.push(error) });
    buffer.publish(text(2, 'a'));
    await buffer.flush('run-1');
    expect(errors).toEqual([new Error('full')]);
    expect(buffer.bytes).toBe(0);
  });
});
