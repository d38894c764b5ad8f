import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import { startWireServer, type WireServer } from '../../../src/testing/index.js';
import { CliFolder, type CommandEnd } from '../support/cli.js';

let folder: CliFolder;
let server: WireServer;
beforeAll(async () => {
  server = await startWireServer({ script: { steps: [{ text: 'as cheap as can be' }] } });
  folder = await CliFolder.make();
  const files = {
    'count.json': '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}',
    'wrong.json': '{"type": "objekt"}',
    'count.yaml': 'steps: [{ text: "about three" }, { text: "{\\"n\\": 3}" }]',
    'prose.yaml': 'steps: [{ text: "about three" }]\nwhenEnded: { text: "still about three" }',
    'circles.yaml': 'steps: [{ toolCalls: [{ name: list_files, args: {} }] }]\nloop: true',
    'slow-ask.yaml': 'steps: [{ toolCalls: [{ name: list_files, args: {} }] }, { text: "all looked at" }]\nfinal: { text: "half of it" }',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text);
  await folder.start(['dev'], key()).saw('worker running; Ctrl-C stops it');
});
/** One worker for all commands, so that each need not start its own. */
const here = (args: readonly string[]): Promise<CommandEnd> => folder.type(args, key());

const key = (): Record<string, string> => ({ OPENAI_BASE_URL: server.openaiBaseUrl, OPENAI_API_KEY: server.apiKey });

afterAll(async () => {
  await folder.remove();
  await server.close();
});

async function run(script: string, ...args: readonly string[]): Promise<CommandEnd & { readonly result: Partial<RunResult> }> {
  const end = await here(['run', 'look', '--model', `scripted/${script}`, '--json', ...args]);
  return { ...end, result: JSON.parse(end.stdout) as RunResult };
}

describe("what a command line says of a run's input", { timeout: 120_000 }, () => {
  it('--output-schema: the answer is corrected until it fits, and its JSON is in the result', async () => {
    const { code, result } = await run('count.yaml', '--output-schema', 'count.json');
    expect(result).toMatchObject({ reason: 'completed', output: '{"n": 3}', structured: { n: 3 }, turns: 2 });
    expect(code).toBe(0);
  });

  it('--output-schema: an answer that never fits is an error, exit 1', async () => {
    const { code, result } = await run('prose.yaml', '--output-schema', 'count.json');
    expect(result).toMatchObject({ reason: 'error', error: { type: 'Run.OutputInvalid' }, turns: 4 });
    expect(code).toBe(1);
  });

  it('--output-schema: a schema that makes no sense is told before a model is asked', async () => {
    const { code, result } = await run('count.yaml', '--output-schema', 'wrong.json');
    expect(result).toMatchObject({ reason: 'error', turns: 0, error: { type: 'Input.Invalid' } });
    expect(result.error?.message).toMatch(/^BAD_INPUT outputSchema\.type: use /u);
    expect(code).toBe(1);
  });

  it('--detach with --session: nothing is started, and the verb that sends a message is named', async () => {
    const { code, stderr } = await here(['run', 'look', '--model', 'scripted/count.yaml', '--session', 'desk', '--detach']);
    expect(stderr).toBe("BAD_OPTION: detach: with --session, use 'perdure send KEY TEXT', which does not wait\n");
    expect(code).toBe(2);
    expect(JSON.parse((await here(['ls', '--session', 'desk', '--json'])).stdout)).toEqual([]);
  });

  it('A-31: --chat answers in one turn, and so does the run that continues it', async () => {
    const { code, result } = await run('circles.yaml', '--chat', '--workspace', '.', '--id', 'talk');
    expect(result).toMatchObject({ reason: 'completed', turns: 1, toolCalls: 0 });
    expect(code).toBe(0);
    const next = await here(['continue', 'talk', 'and then?', '--json']);
    expect(JSON.parse(next.stdout)).toMatchObject({ runId: 'talk.2', reason: 'completed', turns: 1, toolCalls: 0 });
  });

  it('a run that goes in circles ends with loop_detected, exit 6', async () => {
    const { code, result } = await run('circles.yaml', '--workspace', '.');
    expect(result).toMatchObject({ reason: 'loop_detected', turns: 5 });
    expect(code).toBe(6);
  });

  it('--max-cost with a model of unknown price is refused, and --allow-unknown-price starts it, said aloud', async () => {
    const args = ['run', 'look', '--model', 'openai/new-model', '--max-cost', '1', '--json'];
    const refused = await here(args);
    expect(JSON.parse(refused.stdout)).toMatchObject({ error: { message: expect.stringMatching(/^UNKNOWN_PRICE: /u) } });
    expect(server.requests).toEqual([]);
    const allowed = await here([...args, '--allow-unknown-price']);
    expect(JSON.parse(allowed.stdout)).toMatchObject({ reason: 'completed', output: 'as cheap as can be' });
    expect(allowed.stderr).toContain('the price of openai/new-model is unknown: maxCostUsd is not enforced');
  });

  it('--on-budget ask: the run waits at its cap; show says for what and how to decide; deny ends it with its answer', async () => {
    const args = ['--model', 'scripted/slow-ask.yaml', '--workspace', '.', '--max-turns', '1', '--on-budget', 'ask', '--id', 'r1'];
    const asked = folder.start(['run', 'look', ...args, '--json'], key());
    await asked.saw('decide with: perdure extend r1');
    const shown = await vi.waitFor(
      async () => {
        const { stdout } = await here(['show', 'r1']);
        expect(stdout).toMatch(/^approval /mu);
        return stdout;
      },
      { timeout: 30_000 },
    );
    expect(shown).toMatch(/^status +waiting$/mu);
    expect(shown).toMatch(/^waiting for +increase of the limit of 1 turns$/mu);
    expect(shown).toMatch(/^approval +increase of the limit of 1 turns \(budget\), required by budget$/mu);
    expect(shown).toMatch(/^decide +perdure extend r1 --turns N \(other limits: --help\) {3}or: perdure deny r1 budget$/mu);
    expect(shown).toMatch(/^turn 1 +success, \d.*, list_files$/mu);
    expect(await here(['deny', 'r1', 'budget', '--by', 'ada'])).toMatchObject({ code: 0 });
    const { code, stdout } = await asked.ended;
    expect(JSON.parse(stdout)).toMatchObject({ reason: 'max_turns', output: 'half of it', turns: 1, finalized: true });
    expect(code).toBe(6);
  });
});
