import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COMPACTION_LIMITS } from '../../../../src/contracts/constants/limits.js';
import type { Message } from '../../../../src/contracts/schemas/message.js';
import { LeftOut } from '../../../../src/workflows/policies/compaction/omission-note.js';
import { toolGroup, transcript, user } from '../support/transcripts.js';

describe('LeftOut', () => {
  it('its text is read back: leaving out in two steps tells the same as leaving out at once', () => {
    fc.assert(
      fc.property(transcript, fc.nat({ max: 30 }), fc.string(), (messages, cut, before) => {
        const first = leftOut(messages.slice(0, cut));
        const read = LeftOut.read(`${before}\n\n${first.text}`);
        expect(read.before).toBe(before);
        for (const message of messages.slice(cut)) read.leftOut.add(message);
        expect(read.leftOut.text).toBe(leftOut(messages).text);
      }),
    );
  });

  it('a summary that only looks like such a text is kept word for word', () => {
    for (const summary of ['[compacted] many earlier messages', 'x\n\n[compacted] 3 earlier', '', '[compacted] ']) {
      expect(LeftOut.read(summary).before).toBe(summary);
    }
  });

  it('of many identifiers and words of a user the newest are kept', () => {
    const messages = Array.from({ length: 100 }, (_, n) => [
      ...toolGroup(`a${n}`, `src/parts/part${n}.ts`),
      user(`u${n}`, `say ${n}`, 'steer'),
    ]).flat();
    const { text } = leftOut(messages);
    expect(text.match(/src\/parts\/part\d+\.ts/gu)).toHaveLength(COMPACTION_LIMITS.identifiersKept);
    expect(text).toContain('src/parts/part99.ts');
    expect(text).not.toContain('src/parts/part0.ts');
    expect(text.match(/^- say \d+$/gmu)).toHaveLength(10);
  });
});

function leftOut(messages: readonly Message[]): LeftOut {
  const all = new LeftOut();
  for (const message of messages) all.add(message);
  return all;
}
