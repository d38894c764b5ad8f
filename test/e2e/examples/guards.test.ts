import { describe, expect, it } from 'vitest';
import { useExample } from './support/example-folder.js';

/** What the command line says of each guard. */
const SAID = [
  /recovered: arguments of calls/u,
  /look_up: result reused from an earlier call/u,
  /delete_folder blocked by .*system folders must not be deleted/u,
  /loop: repeat, 3 times: nudge/u,
  /loop: repeat, 4 times: block/u,
  /approval needed: deploy/u,
  /deploy approved by you/u,
  /message short delivered in turn/u,
  /corrected \(noise: leaked/u,
  /corrected \(empty answer/u,
  /corrected \(plan-finished/u,
  /compacted \(tiered/u,
  /budget reached: 15 turns/u,
  /limits increased: at most 20 turns/u,
  /completed after 16 turns/u,
];

describe('the guards example', () => {
  const example = useExample('guards');

  it('shows each guard once on the command line, and its secrets are nowhere in what the model read', async () => {
    const { stderr, stdout } = await example.start('g1');
    expect(SAID.filter((line) => !line.test(stderr))).toEqual([]);
    expect(stdout).toContain('the plan is finished');
    const shown = (await example.ask('show', 'g1')) as { result: { steers: object[]; reason: string } };
    expect(shown.result).toMatchObject({ reason: 'completed', steers: [{ id: 'short', state: 'delivered' }] });
    expect(JSON.stringify(shown)).not.toMatch(/secret-\d/u);
  });
});
