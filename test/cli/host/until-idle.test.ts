import { describe, expect, it } from 'vitest';
import { type Announcement, untilIdle } from '../../../src/cli/host/until-idle.js';

function announce(log: string[]): Announcement {
  log.push('announced');
  return {
    remove: () => {
      log.push('withdrawn');
      return Promise.resolve();
    },
  };
}

/** Plays a list of answers to "are runs open?"; the last one stays. */
function folder(...answers: readonly boolean[]) {
  const log: string[] = [];
  let asked = 0;
  return {
    log,
    options: {
      hasOpenRuns: () => {
        const open = answers[Math.min(asked, answers.length - 1)] ?? false;
        asked += 1;
        log.push(open ? 'open' : 'idle');
        return Promise.resolve(open);
      },
      announcement: announce(log),
      announceAgain: () => Promise.resolve(announce(log)),
      signal: new AbortController().signal,
      pollMs: 1,
    },
  };
}

describe('untilIdle', () => {
  it('ends once no run has been open for a while, with its announcement withdrawn', async () => {
    const { log, options } = folder(true, true, false);
    await untilIdle({ ...options, idleMs: 300 });
    expect(log.slice(0, 3)).toEqual(['announced', 'open', 'open']);
    expect(log.slice(-2)).toEqual(['withdrawn', 'idle']);
  });

  it('a run started between the last look and the withdrawal is not left alone', async () => {
    const stays = folder(true, false);
    await untilIdle({ ...stays.options, idleMs: 0 });
    expect(stays.log).toEqual(['announced', 'withdrawn', 'open', 'announced', 'withdrawn', 'idle']);
  });

  it('an interrupt ends it at once', async () => {
    const { options } = folder(true);
    const stop = new AbortController();
    const waiting = untilIdle({ ...options, idleMs: 60_000, signal: stop.signal, pollMs: 60_000 });
    stop.abort();
    await expect(waiting).resolves.toBeUndefined();
  });
});
