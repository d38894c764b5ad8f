import { describe, expect, it } from 'vitest';
import { type PerdureFolder, usePerdureFolders } from './support/perdure-folder.js';
import { messagesOf } from './support/request-messages.js';
import { modelEnv, useModels } from './support/use-models.js';

const RUN = ['run', 'send it', '--model', 'openai/test', '--id', 'r1'];
const ASKING = [...RUN, '--agent', 'asking'];

const send = (name: string) => ({ name: 'send_once', args: { name } });
const TWO_SENDS = { steps: [{ toolCalls: [send('a'), send('b')] }, { text: 'The rest is as you decided.' }] };
const STARTS_THEN_ANSWERS = { steps: [{ toolCalls: [send('a'), send('b')] }, { text: 'heard: {{lastUser}}' }] };

describe('what a person types to decide and to direct', () => {
  const folder = usePerdureFolders();
  const model = useModels();

  it('C10: approves one call and denies the other with the commands that the run and `approvals` print', async () => {
    const wire = await model({ script: TWO_SENDS });
    const here = await folder(modelEnv(wire));
    const run = here.start(ASKING);
    await run.prints('decide with: perdure approve r1');
    await run.prints('approval needed: send once {"name":"b"}');
    const [first = '', second = ''] = await decisionsListed(here);
    expect(run.stderr).toContain(`decide with: ${first.replace('   or:', ' or:')}`);

    const [approve = '', deny = ''] = [first.split('   or: ')[0], second.split('   or: ')[1]];
    expect((await typed(here, approve, '--by', 'ann')).stderr).toMatch(/^r1: send_once \S+ approved by ann$/mu);
    const late = here.start(['watch', 'r1']);
    await late.prints(`decide with: ${second.replace('   or:', ' or:')}`);
    expect(late.stderr).toContain('send_once approved by ann');
    expect(late.stderr.match(/decide with/gu)).toHaveLength(1);
    expect((await typed(here, deny, '--by', 'ann', '--reason', 'one is enough')).stderr).toMatch(/denied by ann$/mu);
    const { stdout, stderr } = await run.exits(0);
    expect(stdout).toBe('The rest is as you decided.\n');
    expect(stderr).toContain('send_once denied by ann: one is enough');
    expect((await here.startsOf('send_once')).map(({ name }) => name)).toEqual(['a']);
    expect(JSON.stringify(messagesOf(wire.requests[1]))).toContain('denied by ann: one is enough');

    const again = await here.type(argumentsOf(approve), 4);
    expect(again.stderr).toMatch(/^RUN_CLOSED: run r1 is completed/mu);
    expect((await here.type(['approvals', 'r1'])).stderr).toContain('no pending approvals');
    await late.exits(0);
  });

  it('Ctrl-C lets go of a run that waits for a person; what it asks is still there, and deciding it alone finishes the run', async () => {
    const wire = await model({ script: { steps: [{ toolCalls: [send('a')] }, { text: 'sent' }] } });
    const here = await folder(modelEnv(wire));
    const run = here.start(ASKING);
    await run.prints('decide with: ');
    run.child.kill('SIGINT');
    expect((await run.exits(0)).stderr).toContain('run r1 is kept');

    const listed = await here.type(['approvals']);
    expect(listed.stderr).toMatch(/no worker was running; process \d+ continues the run in the background/u);
    const [command = ''] = commandsIn(listed.stdout);
    await typed(here, command.split('   or: ')[0] ?? '');
    expect(await here.json(['watch', 'r1'])).toMatchObject({ reason: 'completed', output: 'sent', toolCalls: 1 });
  });

  it('steer --mode preempt skips the calls that were not started, and the model reads the message next', async () => {
    const wire = await model({ script: STARTS_THEN_ANSWERS });
    const here = await folder(modelEnv(wire));
    await here.hold();
    const run = here.start(RUN);
    await here.started('send_once');
    expect(await here.json(['steer', 'r1', 'leave b', '--id', 'm1', '--mode', 'preempt'])).toEqual({ runId: 'r1', id: 'm1' });
    await here.release();
    expect((await run.exits(0)).stdout).toBe('heard: leave b\n');
    expect((await here.startsOf('send_once')).map(({ name }) => name)).toEqual(['a']);
    expect(JSON.stringify(messagesOf(wire.requests[1]))).toContain('[skipped] a new message came; not run');
  });

  it('steer --mode interrupt aborts an answer that hangs, and keeps what there was of it', async () => {
    const stalled = { text: 'I think that the answer', chunkChars: 99, fault: { stall: true, afterEvent: 'text' } } as const;
    const wire = await model({ script: { steps: [stalled, { text: 'heard: {{lastUser}}' }] } });
    const here = await folder(modelEnv(wire));
    const run = here.start([...RUN, '--events']);
    await run.prints('I think that the answer');
    await here.type(['steer', 'r1', 'be brief', '--mode', 'interrupt']);
    const { stdout } = await run.exits(0);
    expect(stdout).toContain('"type":"model.interrupted"');
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ result: { output: 'heard: be brief', turns: 2 } });
    expect(wire.requests).toHaveLength(2);
    expect(JSON.stringify(messagesOf(wire.requests[1]))).toContain('I think that the answer');
  });

  it('hold keeps the next turn back and says for whom, release lets it go', async () => {
    const wire = await model({ script: STARTS_THEN_ANSWERS });
    const here = await folder(modelEnv(wire));
    await here.hold();
    const run = here.start(RUN);
    await here.started('send_once');
    const held = await here.type(['hold', 'r1', '--ttl', '1h30m', '--by', 'ann']);
    expect(held.stderr).toContain('r1: held for at most 90m; release it with: perdure release r1');
    await here.release();
    await run.prints('waiting: release (held by ann until ');
    expect(wire.requests).toHaveLength(1);
    expect(await here.json(['release', 'r1'])).toEqual({ runId: 'r1', held: false });
    expect((await run.exits(0)).stderr).toContain('released (release)');
  });

  it('extend answers a run that asks for more of its budget; deny lets it give its final answer', async () => {
    const look = { toolCalls: [{ name: 'look', args: { name: '{{turn}}' } }] };
    const wire = await model({ script: { steps: [look, look], final: { text: 'as far as I came' } } });
    const here = await folder(modelEnv(wire));
    const run = here.start([...RUN, '--agent', 'budgeted', '--max-turns', '1']);
    await run.prints('decide with: perdure extend r1 --turns N');
    expect((await here.type(['approve', 'r1', 'budget'], 2)).stderr).toContain(
      'BAD_ANSWER: a budget request cannot be approved. Extend the budget, or deny the request.',
    );
    expect((await here.type(['extend', 'r1'], 2)).stderr).toContain('give at least one of --turns');
    expect((await here.type(['extend', 'r1', '--turns', '1'])).stderr).toContain('r1: limits increased (turn limit: 2)');
    await run.prints('approval needed: increase of the limit of 2 turns');
    await here.type(['deny', 'r1', 'budget']);
    expect((await run.exits(6)).stdout).toBe('as far as I came\n');
  });

  it.each<[string, string[], number, string]>([
    ['a verb', ['aprove', 'r1', 'c1'], 2, 'UNKNOWN_VERB: aprove (did you mean approve?)'],
    ['an option', ['deny', 'r1', 'c1', '--resaon', 'no'], 2, 'UNKNOWN_OPTION: --resaon (did you mean --reason?)'],
    ['a mode', ['steer', 'r1', 'hi', '--mode', 'interupt'], 2, 'BAD_OPTION: mode: boundary, preempt or interrupt, got "interupt"'],
    ['a duration', ['hold', 'r1', '--ttl', '10min'], 2, 'BAD_OPTION: ttl: a duration such as 90s, 10m or 1h30m, got "10min"'],
    ['a duration of days', ['hold', 'r1', '--ttl', '9d'], 2, 'BAD_OPTION: ttl: 1s to 1d, got "9d"'],
    ['no call', ['approve', 'r1'], 2, "MISSING_ARGUMENT: missing required argument 'call'"],
    ['a run, in a folder without runs', ['approve', 'r1', 'c1'], 3, 'RUN_NOT_FOUND: no run "r1": this folder has no runs'],
    ['a run, in a folder without runs', ['approvals', 'r1'], 3, 'RUN_NOT_FOUND: no run "r1": this folder has no runs'],
  ])('mistyped: %s: one line that says what is right, and no server is started for it', async (_what, args, code, line) => {
    const here = await folder();
    const { stdout, stderr } = await here.type(args, code);
    expect(stdout).toBe('');
    expect(stderr.trimEnd().split('\n')).toEqual([expect.stringContaining(line)]);
    await expect(here.server()).rejects.toThrow('the folder has no server');
  });

  it('approvals in a folder without runs says that nothing waits, and starts no server', async () => {
    const here = await folder();
    expect(await here.type(['approvals'])).toMatchObject({ stdout: '', stderr: 'no pending approvals\n' });
    expect(await here.json(['approvals'])).toEqual([]);
    await expect(here.server()).rejects.toThrow('the folder has no server');
  });
});

/** The commands that `approvals` prints, as they are. */
async function decisionsListed(here: PerdureFolder): Promise<string[]> {
  const { stdout } = await here.type(['approvals', 'r1']);
  return commandsIn(stdout);
}

function commandsIn(listed: string): string[] {
  return [...listed.matchAll(/^ {2}decide {7}(.*)$/gmu)].map(([, command = '']) => command);
}

/** Types a command as it was printed, with more behind it. */
function typed(here: PerdureFolder, command: string, ...more: readonly string[]): ReturnType<PerdureFolder['type']> {
  return here.type([...argumentsOf(command), ...more]);
}

function argumentsOf(command: string): string[] {
  const [program, ...args] = command.split(' ');
  expect(program).toBe('perdure');
  return args;
}
