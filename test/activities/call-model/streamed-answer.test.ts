import { describe, expect, it } from 'vitest';
import { StreamedAnswer } from '../../../src/activities/call-model/streamed-answer.js';
import type { ThinkingOutput } from '../../../src/contracts/schemas/model.js';
import type { StreamDelta } from '../../../src/providers/contract/provider.js';
import type { StreamEvent } from '../../../src/streams/stream.js';

const think = (text: string): StreamDelta => ({ type: 'thinking', text });
const say = (text: string): StreamDelta => ({ type: 'text', text });
const ANSWER = [
  think('Two '),
  think('files.'),
  say('I read both.'),
  think('More?'),
  { type: 'tool_call', name: 'read' },
  think('Hm'),
] as const;

/** What a watcher gets of an answer, and what the answer knows of itself. */
async function shown(deltas: readonly StreamDelta[], thinkingOutput: ThinkingOutput, isWithheld = false) {
  const events: StreamEvent[] = [];
  const sink = { publish: (event: StreamEvent) => void events.push(event), flush: () => Promise.resolve() };
  const streamed = new StreamedAnswer(sink, { runId: 'r', turn: 1, attempt: 1, epoch: 1 }, { isWithheld, thinkingOutput });
  for (const delta of deltas) streamed.add(delta);
  await streamed.end();
  return { streamed, events, seen: events.map((event) => ('text' in event ? `${event.type}: ${event.text}` : event.type)) };
}

describe('StreamedAnswer', () => {
  it('C-36: apart, thinking is a stream of its own', async () => {
    const { seen } = await shown(ANSWER, 'apart');
    const thought = ['thinking: Two ', 'thinking: files.'];
    expect(seen).toEqual(['reset', ...thought, 'text: I read both.', 'thinking: More?', 'tool_call', 'thinking: Hm', 'end']);
  });

  it('C-36: suppressed, nothing of it is shown', async () => {
    const { seen } = await shown(ANSWER, 'suppressed');
    expect(seen).toEqual(['reset', 'text: I read both.', 'tool_call', 'end']);
  });

  it('C-36: included, it is text between tags, each closed before what comes next', async () => {
    const { events, seen } = await shown(ANSWER, 'included');
    const text = events.map((event) => (event.type === 'text' ? event.text : '')).join('');
    const thoughts = '<thinking>Two files.</thinking>\nI read both.<thinking>More?</thinking>\n<thinking>Hm</thinking>\n';
    expect(text).toBe(thoughts);
    expect(seen.filter((line) => !line.startsWith('text'))).toEqual(['reset', 'tool_call', 'end']);
    expect(seen.indexOf('tool_call')).toBe(seen.lastIndexOf('text: </thinking>\n', seen.indexOf('tool_call')) + 1);
  });

  it('the answer is the same whatever is shown: thinking is charged, and is no part of its text', async () => {
    for (const output of ['apart', 'suppressed', 'included'] as const) {
      const { streamed, events } = await shown(ANSWER, output);
      expect(streamed.text).toBe('I read both.');
      expect(streamed.progress().tokens).toBe(Math.ceil('Two files.I read both.More?readHm'.length / 4));
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    }
  });

  it.each(['apart', 'suppressed', 'included'] as const)('a withheld answer shows no thinking either when it is %s', async (output) => {
    const { seen } = await shown(ANSWER, output, true);
    expect(seen).toEqual(['reset', 'tool_call', 'end']);
  });
});
