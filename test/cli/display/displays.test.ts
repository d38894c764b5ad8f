import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { eventLine } from '../../../src/cli/display/event-line.js';
import { EventsDisplay } from '../../../src/cli/display/json-display.js';
import { PlainDisplay } from '../../../src/cli/display/plain-display.js';
import { progressAfter, statusLine } from '../../../src/cli/display/status-line.js';
import type { Progress } from '../../../src/contracts/schemas/run.js';
import type { StreamEntry } from '../../../src/streams/stream.js';
import { RUNNING as progress } from '../terminal/support/items.js';

class Screen extends Writable {
  readonly isTTY = true;
  columns: number;
  written = '';

  constructor(columns: number) {
    super();
    this.columns = columns;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.written += chunk.toString();
    done();
  }
}

function screens(columns = 40) {
  const stderr = new Screen(columns);
  const stdout = new Screen(columns);
  return { output: { stdout, stderr }, stderr, stdout };
}

function streamed(text: string, seq = 1): { type: 'stream'; event: StreamEntry } {
  return { type: 'stream', event: { id: String(seq), runId: 'r', turn: 1, attempt: 1, epoch: 1, seq, type: 'text', text } };
}

describe('statusLine', () => {
  it('tells turn of cap, phase, tokens, cost and time', () => {
    expect(statusLine({ progress, elapsedMs: 12_300, columns: 200 })).toBe(
      'turn 3/20 · model fake/model · 1.2k in, 56 out, $0.0123 · 12.3 s',
    );
  });

  it('tells the tool, what is waited for, and queued messages', () => {
    const tools: Progress = { ...progress, phase: 'tools', tool: 'npm test\u001b[0m', inbox: 2 };
    expect(statusLine({ progress: tools, elapsedMs: 0, columns: 200 })).toContain('· tools · npm test · ');
    expect(statusLine({ progress: tools, elapsedMs: 0, columns: 200 })).toContain('· 2 queued');
    const waiting: Progress = { ...progress, status: 'waiting', waitingFor: 'model unreachable, attempt 2' };
    expect(statusLine({ progress: waiting, elapsedMs: 0, columns: 200 })).toContain('waiting: model unreachable, attempt 2');
    expect(statusLine({ progress: { ...progress, status: 'paused' }, elapsedMs: 0, columns: 200 })).toContain('· paused ·');
  });

  it('never reaches the last column', () => {
    for (const columns of [20, 40, 60]) expect(statusLine({ progress, elapsedMs: 0, columns }).length).toBeLessThan(columns);
  });
});

describe('progressAfter', () => {
  it('follows turns and tools between two answers', () => {
    const inTool = progressAfter(progress, {
      seq: 1,
      at: 0,
      type: 'tool.call',
      turn: 4,
      callId: 'c',
      tool: 't',
      title: 'npm test',
      effect: 'once',
    });
    expect(inTool).toMatchObject({ turn: 4, phase: 'tools', tool: 'npm test' });
    const next = progressAfter(inTool, { seq: 2, at: 0, type: 'turn.started', turn: 5 });
    expect(next).toMatchObject({ turn: 5, phase: 'model' });
    expect(next).not.toHaveProperty('tool');
  });
});

describe('PlainDisplay', () => {
  it('writes one line an event to stderr, nothing to stdout, and no streamed text', () => {
    const { output, stderr, stdout } = screens();
    const display = new PlainDisplay(output);
    display.show({ type: 'event', event: { seq: 1, at: 0, type: 'turn.started', turn: 1 } });
    display.show({ type: 'event', event: { seq: 2, at: 0, type: 'turn.ended', turn: 1 } });
    display.show(streamed('tokens'));
    display.show({ type: 'notice', code: 'NO_WORKER', message: 'no worker' });
    expect(stderr.written).toBe('turn 1\nNO_WORKER: no worker\n');
    expect(stdout.written).toBe('');
  });
});

describe('EventsDisplay', () => {
  it('prints one JSON document a line, and the same progress only once', () => {
    const { output, stdout } = screens();
    const display = new EventsDisplay(output);
    display.show({ type: 'event', event: { seq: 1, at: 0, type: 'turn.started', turn: 1 } });
    display.show({ type: 'progress', progress });
    display.show({ type: 'progress', progress });
    display.show(streamed('x\u009b'));
    const types = stdout.written
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(types).toMatchObject([{ type: 'turn.started' }, { type: 'progress' }, { type: 'stream', event: { text: 'x\u009b' } }]);
  });
});

describe('eventLine', () => {
  it('makes text of tools and models safe', () => {
    const line = eventLine({
      seq: 1,
      at: 0,
      type: 'tool.call',
      turn: 1,
      callId: 'c',
      tool: 't',
      title: 'ls\u001b]0;x\u0007\nrm',
      effect: 'read',
    });
    expect(line).toBe('  ls rm');
  });

  it('says nothing of what the next line says anyway', () => {
    expect(eventLine({ seq: 1, at: 0, type: 'turn.ended', turn: 1 })).toBeUndefined();
  });

  it.each([
    [0, 'agent a, model p/m'],
    [1, 'agent a, model p/m, at most 1 turn'],
    [20, 'agent a, model p/m, at most 20 turns'],
  ])('a run that may take %i turns begins with that, one that was refused before its first turn with none', (maxTurns, line) => {
    expect(eventLine({ seq: 1, at: 0, type: 'run.started', agent: 'a', model: 'p/m', maxTurns })).toBe(line);
  });

  it('until when a model is left alone is a time to read', () => {
    const until = '2030-01-01T00:05:00.123Z';
    expect(eventLine({ seq: 1, at: 0, type: 'model.cooling', turn: 1, model: 'p/m', why: 'Model.RateLimited', until })).toBe(
      '  p/m cooling down until 2030-01-01 00:05:00 UTC: Model.RateLimited',
    );
  });

  it.each([
    ['c1', 'deploy', 'approved', 'ada', '  deploy approved by ada'],
    ['c1', 'deploy', 'expired', 'nobody', '  deploy denied (expired)'],
    ['budget', 'extend', 'approved', 'extend', '  limit increase approved by extend'],
    ['budget', 'extend', 'denied', 'ada', '  limit increase denied by ada'],
  ])('a decision about %s of %s: %s by %s', (callId, tool, decision, by, line) => {
    expect(eventLine({ seq: 1, at: 0, type: 'approval.decided', callId, tool, decision, by })).toBe(line);
  });
});
