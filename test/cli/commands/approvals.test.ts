import { describe, expect, it } from 'vitest';
import { formatApprovals } from '../../../src/cli/commands/read/approvals.js';
import { ApprovalHints } from '../../../src/cli/display/approval-hints.js';
import { eventLine } from '../../../src/cli/display/event-line.js';
import type { WatchItem } from '../../../src/client/watch/watch-run.js';
import { NO_USAGE } from '../../../src/contracts/models/usage.js';
import type { ApprovalList } from '../../../src/contracts/schemas/approval.js';
import { useDeployCommands } from '../support/deploy-commands.js';

const deployed = useDeployCommands();
const { here, waitingRun } = deployed;

describe('approvals, approve, deny and extend', { timeout: 60_000 }, () => {
  it('what waits is listed with what would run, why, and the commands that decide; approve lets it run', async () => {
    const runId = `cli-approve-${process.pid}`;
    const callId = await waitingRun(runId);
    const listed = await here('approvals', runId);
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    expect(listed.stdout).toContain(`${runId} ${callId}: deploy\n  arguments    {"to":"production"}\n  required by  gate: `);
    expect(listed.stdout).toContain(`perdure approve ${runId} ${callId}   or: perdure deny ${runId} ${callId}`);
    const json: unknown = JSON.parse((await here('approvals', runId, '--json')).stdout);
    expect(json).toEqual([
      { runId, callId, tool: 'deploy', args: { to: 'production' }, since: expect.any(String), expires: expect.any(String) },
    ]);
    expect(await here('approve', runId, callId, '--by', 'ada')).toEqual({
      code: 0,
      stdout: '',
      stderr: `${runId}: deploy ${callId} approved by ada\n`,
    });
    expect(await deployed.client.workflow.getHandle(runId).result()).toMatchObject({ reason: 'completed', toolCalls: 1 });
    expect(await here('approvals', runId)).toMatchObject({ code: 0, stderr: 'no pending approvals\n' });
    expect((await here('approvals', runId, '--json')).stdout).toBe('[]\n');
  });

  it('approvals without a run lists those of all open runs', async () => {
    const runId = `cli-all-${process.pid}`;
    const callId = await waitingRun(runId);
    await expect
      .poll(async () => JSON.parse((await here('approvals', '--json')).stdout) as unknown, { timeout: 30_000 })
      .toMatchObject([{ runId, callId }]);
    await deployed.client.workflow.getHandle(runId).signal('cancel', {});
  });

  it('deny says why; a second decision is refused with who came first', async () => {
    const runId = `cli-deny-${process.pid}`;
    const callId = await waitingRun(runId);
    await deployed.client.workflow.getHandle(runId).signal('pause');
    const denied = await here('deny', runId, callId, '--reason', 'not now', '--by', 'ada', '--json');
    expect(JSON.parse(denied.stdout)).toMatchObject({ runId, callId, decision: 'denied', by: 'ada', reason: 'not now' });
    const second = await here('approve', runId, callId, '--by', 'bob');
    expect(second.code).toBe(4);
    expect(second.stderr).toMatch(/^ALREADY_DECIDED: already decided: denied by ada at 20\S+\n$/u);
    await deployed.client.workflow.getHandle(runId).signal('resume');
    await deployed.client.workflow.getHandle(runId).result();
  });

  it('extend raises caps of the live run', async () => {
    const runId = `cli-extend-${process.pid}`;
    await waitingRun(runId);
    expect(await here('extend', runId, '--turns', '4')).toMatchObject({
      code: 0,
      stderr: `${runId}: limits increased (turn limit: 13)\n`,
    });
    expect(JSON.parse((await here('extend', runId, '--turns', '1', '--json')).stdout)).toMatchObject({ runId, progress: { maxTurns: 14 } });
    expect(await here('extend', runId, '--max-cost', '1')).toMatchObject({ code: 4, stderr: expect.stringContaining('has no such limit') });
    await deployed.client.workflow.getHandle(runId).signal('cancel', {});
  });

  it.each<[string, string[], number, RegExp]>([
    ['B7: a call that is not there', ['approve', 'RUN', 'nothing'], 3, /^NO_SUCH_APPROVAL: call "nothing" has no pending approval/u],
    ['B7: an empty call', ['approve', 'RUN', ''], 2, /^BAD_ANSWER: call: a text of 1–200 characters, got ""\n$/u],
    ['B7: nobody decides', ['deny', 'RUN', 'x', '--by', ''], 2, /^BAD_ANSWER: by: a text of 1–200 characters/u],
    ['B7: a reason without end', ['deny', 'RUN', 'x', '--reason', 'y'.repeat(1_001)], 2, /^BAD_ANSWER: reason: a text of 1–1000/u],
    ['no call', ['approve', 'RUN'], 2, /^MISSING_ARGUMENT: /u],
    ['a run that is not there', ['approve', 'none', 'x'], 3, /^RUN_NOT_FOUND: /u],
    ['a run that is not there', ['deny', 'none', 'x'], 3, /^RUN_NOT_FOUND: /u],
    ['a run that is not there', ['approvals', 'none'], 3, /^RUN_NOT_FOUND: /u],
    ['a run that is not there', ['extend', 'none', '--turns', '1'], 3, /^RUN_NOT_FOUND: /u],
    ['nothing to extend', ['extend', 'RUN'], 2, /^BAD_OPTION: extend: give at least one of --turns, --max-cost, /u],
    ['B9: no number of turns', ['extend', 'RUN', '--turns', 'ten'], 2, /^BAD_OPTION: turns: integer above 0, got "ten"\n$/u],
    ['a deadline without a unit', ['extend', 'RUN', '--deadline', '90'], 2, /^BAD_OPTION: deadline: a duration such as 90s/u],
  ])('bad input: %s: %j', async (_name, args, code, stderr) => {
    const runId = `cli-bad-${process.pid}`;
    const described = await deployed.client.workflow
      .getHandle(runId)
      .describe()
      .catch(() => undefined);
    if (!described) await waitingRun(runId);
    const end = await here(...args.map((arg) => (arg === 'RUN' ? runId : arg)));
    expect(end.stderr).toMatch(stderr);
    expect(end.code).toBe(code);
    expect((await deployed.client.workflow.getHandle(runId).query<ApprovalList>('approvals')).pending).toHaveLength(1);
  });
});

const WAITING = {
  status: 'waiting',
  turn: 1,
  maxTurns: 9,
  usage: NO_USAGE,
  inbox: 0,
  pendingApprovals: 1,
  agent: 'a',
  model: 'm',
} as const;

describe('what a person reads', () => {
  const asked = { seq: 1, at: 0, type: 'approval.asked', turn: 1, tool: 'deploy', title: 'deploy', by: 'gate', reason: '' } as const;
  const askedFor = (callId: string): WatchItem => ({ type: 'event', event: { ...asked, callId } });
  const decided: WatchItem = {
    type: 'event',
    event: { seq: 2, at: 0, type: 'approval.decided', callId: 'c1', tool: 'deploy', decision: 'denied', by: 'ada' },
  };
  const progress: WatchItem = {
    type: 'progress',
    progress: { ...WAITING, phase: 'tools' },
  };

  it('whoever watches a run is told once the commands that answer it', () => {
    const hints = new ApprovalHints('r1');
    expect([askedFor('c1'), askedFor('budget')].flatMap((item) => hints.take(item))).toEqual([]);
    expect(hints.take(progress)).toEqual([
      'decide with: perdure approve r1 c1   or: perdure deny r1 c1',
      'decide with: perdure extend r1 --turns N (other limits: --help)   or: perdure deny r1 budget',
    ]);
    expect(hints.take(progress)).toEqual([]);
  });

  it('whoever comes late is told no command for what was decided, nor for a run that has ended', () => {
    const hints = new ApprovalHints('r1');
    expect([askedFor('c1'), decided, askedFor('c2'), progress].flatMap((item) => hints.take(item))).toEqual([
      'decide with: perdure approve r1 c2   or: perdure deny r1 c2',
    ]);
    const ended = new ApprovalHints('r1');
    ended.take(askedFor('c1'));
    expect(ended.take({ type: 'progress', progress: { ...WAITING, phase: 'closed' } })).toEqual([]);
  });

  it('the line that asks shows the arguments, whose control characters do not reach the terminal', () => {
    const line = eventLine({ ...asked, callId: 'c1', args: '{"to":"\u001b[2Jproduction"}' });
    expect(line).toBe('  approval needed: deploy {"to":"production"} (c1)');
    expect(eventLine({ ...asked, callId: 'budget', title: 'increase of the limit of 9 turns', args: '{"limit":"9 turns"}' })).toBe(
      '  approval needed: increase of the limit of 9 turns (budget)',
    );
  });

  it('the line about a decision says why, cut to one line', () => {
    const decision = { seq: 1, at: 0, type: 'approval.decided', callId: 'c1', tool: 'deploy', decision: 'denied', by: 'ada' } as const;
    expect(eventLine({ ...decision, reason: 'not\nnow' })).toBe('  deploy denied by ada: not now');
    expect(eventLine({ ...decision, reason: 'y'.repeat(1_000) })?.length).toBeLessThan(200);
  });

  it('X: control characters in arguments do not reach the terminal', () => {
    const text = formatApprovals(
      [
        {
          runId: 'r1',
          callId: 'c1',
          tool: 'deploy',
          title: 'deploy',
          args: { to: '\u001b[2Jgone \u009dx\nall\u202e' },
          hash: '',
          askedBy: 'gate',
          turn: 1,
          since: '2030-01-01T00:00:00.000Z',
        },
      ],
      Date.parse('2030-01-01T00:01:05.000Z'),
    );
    expect(text).not.toContain('\u001b');
    // nothing of them is hidden: each is written out
    expect(text).toContain(String.raw`{"to":"\u001b[2Jgone \u009dx\nall\u202e"}`);
    expect(text).toContain('pending for  1 min 05 s');
  });
});
