import { describe, expect, it } from 'vitest';
import type { GivenMessage } from '../../../src/contracts/schemas/message.js';
import { say } from '../../support/agent-worker.js';
import { useWorkers } from '../../support/use-workers.js';

describe('a transcript of another system', () => {
  const { worker, start } = useWorkers();

  it('A-07: its system messages are not among the messages that are sent, and break no pair', async () => {
    const on = await worker({ model: () => say('ok') });
    const messages: GivenMessage[] = [
      { role: 'system', parts: [{ type: 'text', text: 'You are terse.' }] },
      { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'look' }] },
      { id: 's2', role: 'system', parts: [{ type: 'text', text: 'Answer in German.' }] },
      { id: 'a1', role: 'assistant', parts: [{ type: 'text', text: 'Gesehen.' }] },
    ];
    const run = await start(on, { task: 'go on', messages });
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(on.requests[0]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  });
});
