import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import { executorOf, textOf, useTalkedRuns } from '../support/executor-child.js';

const run = useTalkedRuns();

/** Says its start line as JSON. */
const ECHO_START = `say({ type: 'final', text: JSON.stringify(await next()) });`;

describe('subprocess: what is said', () => {
  test('the first line is a versioned start with run, prompt, task, transcript and tools', async () => {
    const talk = run(executorOf(ECHO_START), 'count to three');
    const { parts, stop } = await talk.ask();
    expect(stop).toBe('end');
    expect(JSON.parse(textOf(parts))).toEqual({
      type: 'start',
      v: 1,
      runId: talk.runId,
      prompt: 'Be brief.',
      task: 'count to three',
      messages: [{ id: 'm0', role: 'user', parts: [{ type: 'text', text: 'count to three' }] }],
      tools: [{ name: 'look_up', description: 'Looks up.', schema: { type: 'object' } }],
    });
  });

  test('a batch of calls is an answer, and its results go to the same process in the order of the calls', async () => {
    const talk = run(
      executorOf(`
        await next();
        call({ id: 'a', name: 'look_up', args: { word: 'x' } }, { name: 'look_up' });
        const { results } = await next();
        say({ type: 'final', text: process.pid + ' ' + JSON.stringify(results) });
      `),
    );
    const calls = await talk.ask();
    expect(calls).toMatchObject({
      stop: 'tool_calls',
      parts: [
        { type: 'tool_call', name: 'look_up', args: { word: 'x' } },
        { type: 'tool_call', name: 'look_up', args: {} },
      ],
    });
    talk.results('first', 'second');
    const { parts } = await talk.ask();
    expect(JSON.parse(textOf(parts).replace(/^\d+ /u, ''))).toEqual([
      { callId: 'a', isError: false, text: 'first' },
      { callId: '1', isError: false, text: 'second' },
    ]);
  });

  test('messages that came in between are told before the results, which are what the child waits for', async () => {
    const talk = run(
      executorOf(`
        await next();
        call({ name: 'look_up' });
        say({ type: 'final', text: JSON.stringify([await next(), await next(), (await next()).type]) });
      `),
    );
    await talk.ask();
    talk.results('seen');
    talk.user('be quick');
    talk.user('and brief');
    const told = ['be quick', 'and brief'].map((text) => ({ type: 'message', text }));
    expect(JSON.parse(textOf((await talk.ask()).parts))).toEqual([...told, 'tool_results']);
  });

  test('a final answer may be followed by messages, which are one line to the process that stayed for them', async () => {
    const talk = run(executorOf(`await next(); say({ type: 'final', text: 'one' }); say({ type: 'final', text: (await next()).text });`));
    await talk.ask();
    talk.user('and two?');
    talk.user('and three?');
    expect(textOf((await talk.ask()).parts)).toBe('and two?\n\nand three?');
  });

  test('tool choice none says finish with the words of the run, and calls that come all the same are answered without being made', async () => {
    const talk = run(
      executorOf(`
        await next();
        call({ name: 'look_up' });
        const [finish, results] = [await next(), await next()];
        call({ id: 'late', name: 'look_up' });
        const refused = await next();
        say({ type: 'final', text: JSON.stringify([finish, results.type, refused]) });
      `),
    );
    await talk.ask();
    talk.results('seen');
    talk.user('Say now what you have.');
    expect(JSON.parse(textOf((await talk.ask({ toolChoice: 'none' })).parts))).toEqual([
      { type: 'finish', text: 'Say now what you have.' },
      'tool_results',
      { type: 'tool_results', results: [{ callId: 'late', isError: true, text: expect.stringContaining('not run') }] },
    ]);
  });

  test('a child that begins when the run ends is told so with its first line, and one that had answered with one line', async () => {
    const talk = run(
      executorOf(`say({ type: 'final', text: (await next()).finish }); say({ type: 'final', text: JSON.stringify(await next()) });`),
    );
    expect(textOf((await talk.ask({ toolChoice: 'none' })).parts)).toBe('The run ends now. Give the final answer.');
    talk.user('too short');
    talk.user('Say now what you have.');
    const { parts } = await talk.ask({ toolChoice: 'none' });
    expect(JSON.parse(textOf(parts))).toEqual({ type: 'finish', text: 'too short\n\nSay now what you have.' });
  });

  test('text and thinking are streamed as they come, a final text is told once, and usage of several models is added up', async () => {
    const talk = run(
      executorOf(`
        await next();
        say({ type: 'thinking', text: 'hm' });
        say({ type: 'text', text: 'two ' });
        say({ type: 'usage', inputTokens: 10, outputTokens: 2, model: 'a' });
        say({ type: 'usage', inputTokens: 5, outputTokens: 1, cacheReadTokens: 4 });
        say({ type: 'final', text: 'two words' });
      `),
    );
    expect(await talk.ask()).toEqual({
      parts: [
        { type: 'thinking', text: 'hm' },
        { type: 'text', text: 'two words' },
      ],
      stop: 'end',
      usage: { inputTokens: 15, outputTokens: 3, cacheReadTokens: 4, cacheWriteTokens: 0, reasoningTokens: 0 },
    });
    expect(talk.deltas).toEqual([
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'two ' },
      { type: 'text', text: 'words' },
    ]);
  });

  test('a child that tells no usage has none, so that it is estimated', async () => {
    expect(await run(executorOf(ECHO_START)).ask()).not.toHaveProperty('usage');
  });

  test('what a framework prints on its output is no part of the talk', async () => {
    const body = `
      await next();
      console.log('\\u001b[1mCrew: started\\u001b[0m');
      console.log('{"level":"info","message":"structured"}');
      console.log('{ not JSON');
      console.log('');
      say({ type: 'final', text: 'done' });
    `;
    expect(textOf((await run(executorOf(body)).ask()).parts)).toBe('done');
  });

  test('a question that is asked again, because its answer was lost, has the same answer without a word to the child', async () => {
    const talk = run(executorOf(`await next(); call({ name: 'look_up' }); await next(); say({ type: 'final', text: 'once' });`));
    const first = await talk.ask();
    const before = talk.messages.splice(1);
    expect(await talk.ask()).toEqual(first);
    expect(talk.deltas.filter(({ type }) => type === 'tool_call')).toHaveLength(2);
    talk.messages.splice(1, talk.messages.length, ...before);
    talk.results('seen');
    expect(textOf((await talk.ask()).parts)).toBe('once');
  });

  test('runs at the same time have a process each', async () => {
    const executor = executorOf(`
      const { task } = await next();
      for (let turn = 0; turn < 5; turn += 1) {
        call({ name: 'look_up', args: { task, turn } });
        const { results } = await next();
        if (results[0].text !== task + turn) say({ type: 'error', message: 'mixed: ' + results[0].text });
      }
      say({ type: 'final', text: task });
    `);
    const tasks = ['a', 'b', 'c', 'd'];
    const talks = tasks.map((task) => run(executor, task));
    const ends = talks.map(async (talk, index) => {
      for (let turn = 0; turn < 5; turn += 1) {
        await talk.ask();
        talk.results(`${tasks[index]}${turn}`);
      }
      return textOf((await talk.ask()).parts);
    });
    expect(await Promise.all(ends)).toEqual(tasks);
  });

  test('a transcript of megabytes reaches a child that reads slowly', async () => {
    const body = `
      await new Promise((resolve) => setTimeout(resolve, 300));
      say({ type: 'final', text: String((await next()).task.length) });
    `;
    expect(textOf((await run(executorOf(body), 'x'.repeat(8_000_000)).ask()).parts)).toBe('8000000');
  });
});

describe('subprocess: what the child sees', () => {
  const PRINT_ENV = `await next(); say({ type: 'final', text: JSON.stringify([process.env, process.argv]) });`;
  const PRINT_CWD = `await next(); say({ type: 'final', text: process.cwd() });`;

  test('of the environment it has what commands have, and what its definition names; references are resolved, keys are not handed on', async () => {
    const keys = captureKeys({ CHILD_KEY: 'child-key-value' }, ['env:CHILD_KEY']);
    const own = {
      PATH: process.env['PATH'],
      HOME: '/nowhere',
      ANTHROPIC_API_KEY: 'canary',
      OPENAI_API_KEY: 'canary',
      SOME_TOKEN: 'canary',
    };
    const env = { MODEL_KEY: 'env:CHILD_KEY', MODE: 'local', PATH: '/opt/agent' };
    const { parts } = await run(executorOf(PRINT_ENV, { keys, own, env }), 'the secret task').ask();
    const [seen, argv] = JSON.parse(textOf(parts)) as [Record<string, string>, string[]];
    expect(seen).toMatchObject({
      HOME: '/nowhere',
      MODEL_KEY: 'child-key-value',
      MODE: 'local',
      PATH: `/opt/agent:${process.env['PATH']}`,
    });
    expect(JSON.stringify(seen)).not.toContain('canary');
    expect(argv.join(' ')).not.toContain('the secret task');
  });

  test('a reference without a value fails before anything is started, and names the variable', async () => {
    const asking = run(executorOf(PRINT_ENV, { env: { MODEL_KEY: 'env:CHILD_KEY' } })).ask();
    await expect(asking).rejects.toMatchObject({
      type: 'Executor.Failed',
      message: 'agent crew: env MODEL_KEY: SECRET_MISSING env:CHILD_KEY',
    });
  });

  test('it works in its own folder, else in the workspace of the run, else where the worker is', async () => {
    const [own, workspace] = [await tempFolder(), await tempFolder()];
    const inOwn = await run(executorOf(PRINT_CWD, { cwd: own })).ask({ workspace });
    const inWorkspace = await run(executorOf(PRINT_CWD)).ask({ workspace });
    const besideWorker = await run(executorOf(PRINT_CWD)).ask();
    expect([inOwn, inWorkspace, besideWorker].map(({ parts }) => textOf(parts))).toEqual([own, workspace, process.cwd()]);
    const gone = run(executorOf(PRINT_CWD, { cwd: join(own, 'gone') })).ask();
    await expect(gone).rejects.toThrow('gone is not a folder on this worker');
  });

  test('arguments reach it as they are, whatever a shell would make of them', async () => {
    const strange = [`it's`, '$HOME', '`id`', 'a b', '"', '\\', ''];
    const body = `require('node:process').stdout.write(JSON.stringify({ type: 'final', text: JSON.stringify(process.argv.slice(1)) }) + '\\n')`;
    const { parts } = await run(executorOf('', { args: ['-e', body, '--', ...strange] })).ask();
    expect(JSON.parse(textOf(parts))).toEqual(strange);
  });
});

async function tempFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'perdure-executor-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
