import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { until } from '../../support/use-workers.js';
import { usePerdureFolders, WAIT_MS_MAX } from '../support/perdure-folder.js';
import { modelEnv, useModels } from '../support/use-models.js';

const TURNS = 12;
const LIVES = 4;
const LIFE_MS = 3_000;

const folder = usePerdureFolders();
const model = useModels();

test('a run whose worker is killed every 3 seconds ends, and no `once` tool is started twice', async () => {
  const turn = {
    delayMs: 200,
    toolCalls: [
      { name: 'send_once', args: { name: '{{turn}}', ms: 400 } },
      { name: 'put_idempotent', args: { name: '{{turn}}', ms: 400 } },
    ],
  };
  const wire = await model({ script: { steps: [...Array.from({ length: TURNS }, () => turn), { text: 'still here' }] } });
  const here = await folder(modelEnv(wire));
  for (let life = 1; life <= LIVES; life += 1) {
    const startedAt = Date.now();
    const args = life === 1 ? ['run', 'go', '--model', 'openai/test', '--id', 'r1'] : ['watch', 'r1'];
    const command = here.start(args);
    // a worker that did nothing before its death proves nothing
    await until(async () => (await here.effects()).some(({ pid }) => pid === command.pid), `life ${life} at work`, WAIT_MS_MAX);
    await delay(Math.max(0, startedAt + LIFE_MS - Date.now()));
    expect((await command.kill('SIGKILL')).signal).toBe('SIGKILL');
  }
  const { stdout } = await here.start(['watch', 'r1', '--events']).exits(0);
  const lines: unknown[] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.at(-1)).toMatchObject({ type: 'result', result: { reason: 'completed', turns: TURNS + 1, toolCalls: 2 * TURNS } });
  // every death but one between two calls was in the midst of a call
  const lost = lines.filter(isLoss);
  expect(lost.length).toBeGreaterThanOrEqual(LIVES - 1);

  const once = await here.startsOf('send_once');
  expect(once).toHaveLength(new Set(once.map(({ key }) => key)).size);
  const ended = (await here.effects()).filter(({ what, tool }) => what === 'end' && tool === 'put_idempotent');
  expect(new Set(ended.map(({ name }) => name)).size).toBe(TURNS);
  expect(new Set(ended.map(({ key }) => key)).size).toBe(TURNS);
});

function isLoss(line: unknown): boolean {
  return line !== null && typeof line === 'object' && 'type' in line && line.type === 'worker.lost';
}
