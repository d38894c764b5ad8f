import { describe, expect, it } from 'vitest';
import { call, lastTextOf, say } from '../../support/agent-worker.js';
import { bareTool } from '../../support/tools/sample-tools.js';
import { latch, useWorkers } from '../../support/use-workers.js';

const OUTPUT_SCHEMA = {
  type: 'object',
  properties: { total: { type: 'integer', minimum: 0 } },
  required: ['total'],
  additionalProperties: false,
};
const NO_GUARDS = { quality: false, finaliseAtRemainingTurns: 0 };
const OWN_GATE = { ...NO_GUARDS, completion: { custom: true } };

const count = bareTool('count', () => '3', { effect: 'read' });

describe('a run with an output schema', () => {
  const { worker, start } = useWorkers();

  it('gives the JSON of its answer as structured, also from a code block and after calls', async () => {
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['count', {}]) : say('The total:\n```json\n{"total": 3}\n```')),
      tools: [count],
      policy: NO_GUARDS,
    });
    const run = await start(on, { outputSchema: OUTPUT_SCHEMA });
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 2, structured: { total: 3 } });
  });

  it('sends an answer that does not fit back with its problem and the schema, and takes the next one', async () => {
    const on = await worker({
      model: (_, n) => say(n === 1 ? '{"total": -1}' : '{"total": 1}'),
      policy: NO_GUARDS,
    });
    const run = await start(on, { outputSchema: OUTPUT_SCHEMA });
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 2, structured: { total: 1 }, output: '{"total": 1}' });
    const told = on.requests.map(lastTextOf)[1];
    expect(told).toContain('/total: ');
    expect(told).toContain(JSON.stringify(OUTPUT_SCHEMA));
    expect((await run.events()).filter(({ type }) => type === 'answer.corrected')).toMatchObject([{ why: 'output schema', attempt: 1 }]);
  });

  it('is corrected three times, and then fails with what does not fit', async () => {
    const on = await worker({ model: (_, n) => say(`About ${n}, I think.`), policy: NO_GUARDS });
    const run = await start(on, { outputSchema: OUTPUT_SCHEMA });
    await expect(run.result()).rejects.toMatchObject({
      cause: { type: 'Run.OutputInvalid', message: expect.stringContaining('not JSON') },
    });
    expect(on.requests).toHaveLength(4);
  });

  it('A-31: a chat looks at its one answer once: what fits is structured, what does not is left as text', async () => {
    const on = await worker({ model: (_, n) => say(n === 1 ? '{"total": 1}' : 'About one.'), policy: NO_GUARDS });
    expect(await (await start(on, { mode: 'chat', outputSchema: OUTPUT_SCHEMA })).result()).toMatchObject({
      structured: { total: 1 },
      turns: 1,
    });
    const unfit = await (await start(on, { mode: 'chat', outputSchema: OUTPUT_SCHEMA })).result();
    expect(unfit).toMatchObject({ reason: 'completed', output: 'About one.', turns: 1 });
    expect(unfit).not.toHaveProperty('structured');
  });

  it('takes JSON of any kind, null too', async () => {
    const on = await worker({ model: () => say('null'), policy: NO_GUARDS });
    const result = await (await start(on, { outputSchema: { type: 'null' } })).result();
    expect(result).toMatchObject({ reason: 'completed' });
    expect(result.structured).toBeNull();
  });
});

describe("an agent's own completion gate", () => {
  const { worker, start } = useWorkers();

  it('sends the model back with its own words, having read the whole conversation', async () => {
    const seen: string[][] = [];
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['count', {}]) : say(n === 2 ? 'I think it is four.' : 'It is three.')),
      tools: [count],
      policy: OWN_GATE,
      completionGate: ({ messages, output }) => {
        seen.push(messages.map(({ role }) => role));
        return output.includes('three') ? { accept: true } : { accept: false, correction: 'The tool said three.' };
      },
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 3, output: 'It is three.' });
    expect(on.requests.map(lastTextOf)[2]).toBe('The tool said three.');
    expect(seen).toEqual([
      ['user', 'assistant', 'tool', 'assistant'],
      ['user', 'assistant', 'tool', 'assistant', 'user', 'assistant'],
    ]);
  });

  it('that never accepts is asked four times; then the answer stands', async () => {
    let asked = 0;
    const on = await worker({
      model: (_, n) => say(`Answer number ${n}.`),
      policy: OWN_GATE,
      completionGate: () => {
        asked += 1;
        return { accept: false, correction: 'No.' };
      },
    });
    expect(await (await start(on)).result()).toMatchObject({ reason: 'completed', turns: 4, output: 'Answer number 4.' });
    expect(asked).toBe(4);
  });

  it('that throws does not accept: it fails closed, and the model reads why', async () => {
    const on = await worker({
      model: (_, n) => say(`Answer number ${n}.`),
      policy: { ...OWN_GATE, completion: { custom: true, attemptsMax: 1 } },
      completionGate: () => {
        throw new Error('the ledger is locked');
      },
    });
    expect(await (await start(on)).result()).toMatchObject({ reason: 'completed', turns: 2 });
    expect(on.requests.map(lastTextOf)[1]).toContain('the ledger is locked');
  });

  it('is asked after the schema, with the JSON that fits', async () => {
    const asked: unknown[] = [];
    const on = await worker({
      model: (_, n) => say(n === 1 ? 'three' : '{"total": 3}'),
      policy: OWN_GATE,
      completionGate: ({ structured }) => (asked.push(structured), { accept: true }),
    });
    const run = await start(on, { outputSchema: OUTPUT_SCHEMA });
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 2, structured: { total: 3 } });
    expect(asked).toEqual([{ total: 3 }]);
  });

  it('a cancel while it is asked ends the run as cancelled', async () => {
    const entered = latch();
    const on = await worker({
      model: () => say('The answer.'),
      policy: OWN_GATE,
      completionGate: () => {
        entered.open();
        return new Promise<never>(() => undefined);
      },
    });
    const run = await start(on);
    await entered.opened;
    await run.handle.signal('cancel', { reason: 'enough' });
    expect(await run.result()).toMatchObject({ reason: 'cancelled' });
  });
});
