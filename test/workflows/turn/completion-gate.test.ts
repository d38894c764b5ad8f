import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { textOf } from '../../../src/contracts/message-text.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { call, lastTextOf, say } from '../../support/agent-worker.js';
import { bareTool, editFile, updatePlan } from '../../support/tools/sample-tools.js';
import { useWorkers } from '../../support/use-workers.js';

const test = bareTool('run_tests', () => 'all pass', { effect: 'read' });

describe('the completion gate', () => {
  const { worker, start } = useWorkers();

  it('a updatePlan that is not finished sends the model back, with what is open', async () => {
    let told = '';
    const on = await worker({
      model: (request, n) => {
        if (n === 1)
          return call([
            'update_plan',
            {
              steps: [
                { step: 'write it', status: 'done' },
                { step: 'test it', status: 'pending' },
              ],
            },
          ]);
        if (n === 2) return say('I have finished everything you asked for.');
        if (n === 3) {
          told = lastTextOf(request);
          return call([
            'update_plan',
            {
              steps: [
                { step: 'write it', status: 'done' },
                { step: 'test it', status: 'done' },
              ],
            },
          ]);
        }
        return say('Now both steps are done.');
      },
      tools: [updatePlan],
      policy: { completion: { checks: ['plan-finished'] } },
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 4, output: 'Now both steps are done.' });
    expect((await run.events()).filter(({ type }) => type === 'answer.corrected')).toMatchObject([{ why: 'plan-finished', attempt: 1 }]);
    expect(told).toContain('test it');
  });

  it('a model that will not listen is sent back three times in a row, then its answer stands', async () => {
    const on = await worker({
      model: (_, n) =>
        n === 1
          ? call(['update_plan', { steps: [{ step: 'test it', status: 'pending' }] }])
          : say(`Everything is finished as far as I can tell, attempt ${n}.`),
      tools: [updatePlan],
      policy: { completion: { checks: ['plan-finished'] } },
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 5 });
    expect((await run.events()).filter(({ type }) => type === 'answer.corrected')).toHaveLength(3);
  });

  it('D-30: an editFile that nothing looked at afterwards is asked about', async () => {
    const on = await worker({
      model: (_, n) => {
        if (n === 1) return call(['edit_file', { path: 'a.ts' }]);
        if (n === 3) return call(['run_tests', {}]);
        return say(n === 2 ? 'The file is edited as you asked.' : 'The file is edited and the tests pass.');
      },
      tools: [editFile, test],
      policy: { completion: { checks: ['edits-verified'] } },
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 4, output: 'The file is edited and the tests pass.' });
  });

  it('D-16: a required phase that is missing is named; a question that needed no tool is not held up', async () => {
    let told = '';
    const policy = { completion: { checks: ['phases-done' as const], phases: [{ name: 'verify', tools: ['run_tests'] }] } };
    const on = await worker({
      model: (request, n) => {
        if (n === 1) return call(['edit_file', { path: 'a.ts' }]);
        if (n === 2) return say('The file is edited as you asked.');
        if (n === 3) told = lastTextOf(request);
        return n === 3 ? call(['run_tests', {}]) : say('The file is edited and verified.');
      },
      tools: [editFile, test],
      policy,
    });
    expect(await (await start(on)).result()).toMatchObject({ reason: 'completed', turns: 4 });
    expect(told).toContain('verify');
    const question = await worker({ model: () => say('Paris is the capital of France.'), tools: [editFile, test], policy });
    expect(await (await start(question)).result()).toMatchObject({ reason: 'completed', turns: 1 });
  });

  it('D-16: a failed tool completes no phase; two attempts where version control failed, and the count begins anew with a tool', async () => {
    const told: string[] = [];
    const fails = defineTool({
      name: 'run_command',
      description: 'Runs.',
      parameters: z.strictObject({ command: z.string() }),
      execute: ({ command }) => Promise.reject(new Error(`${command}: exit 1`)),
    });
    const commit = call(['run_command', { command: 'git commit -m x' }]);
    const on = await worker({
      model: (request, n) => {
        const last = request.messages.at(-1);
        if (last?.origin === 'correction') told.push(textOf(last));
        return n === 1 || n === 4 ? commit : say(`The change cannot be committed, as I said ${n} times.`);
      },
      tools: [fails],
      policy: {
        completion: {
          checks: ['phases-done'],
          attemptsMax: 1,
          phases: [{ name: 'commit', tools: ['run_command'], command: 'git commit' }],
        },
      },
    });
    // two answers sent back, then a tool, then two more, and the fifth stands
    expect(await (await start(on)).result()).toMatchObject({ reason: 'completed', turns: 7, toolCalls: 2 });
    expect(told).toHaveLength(4);
    expect(told[0]).toContain('commit (run_command: git commit)');
  });

  it('D-16: once is all a policy that allows one attempt sends back', async () => {
    const policy = { completion: { checks: ['phases-done' as const], attemptsMax: 1, phases: [{ name: 'verify', tools: ['run_tests'] }] } };
    const on = await worker({
      model: (_, n) => (n === 1 ? call(['edit_file', { path: 'a.ts' }]) : say(`The file is edited as you asked, answer ${n}.`)),
      tools: [editFile, test],
      policy,
    });
    expect(await (await start(on)).result()).toMatchObject({ reason: 'completed', turns: 3 });
  });

  it('D-30: is asked once in a run, also when it is edited again', async () => {
    const on = await worker({
      model: (_, n) =>
        n % 2 === 1 && n < 5 ? call(['edit_file', { path: 'a.ts' }]) : say(`The file is edited as you asked, answer ${n}.`),
      tools: [editFile, test],
      policy: { completion: { checks: ['edits-verified'] } },
    });
    const run = await start(on);
    expect(await run.result()).toMatchObject({ reason: 'completed', turns: 4 });
    expect((await run.events()).filter(({ type }) => type === 'answer.corrected')).toMatchObject([{ turn: 2, why: 'edits-verified' }]);
  });

  it('an answer that announces work instead of doing it is sent back', async () => {
    const on = await worker({
      model: (_, n) => (n === 1 ? say('I will now run the tests.') : n === 2 ? call(['run_tests', {}]) : say('The tests pass.')),
      tools: [test],
      policy: {},
    });
    expect(await (await start(on)).result()).toMatchObject({ reason: 'completed', turns: 3, output: 'The tests pass.' });
  });
});
