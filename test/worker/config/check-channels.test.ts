import { describe, expect, it } from 'vitest';
import { openChannelDoors } from '../../../src/cli/host/doors/channel-doors.js';
import type { Place } from '../../../src/cli/host/workplace.js';
import { checkConfig } from '../../../src/worker/config/check-config.js';
import type { LoadedConfig } from '../../../src/worker/config/load-config.js';

const TEAM = { kind: 'slack', signingSecret: 'env:SECRET', botToken: 'file:/run/secrets/bot' };

describe('channels of a config', () => {
  it('takes a Slack channel with all its options', () => {
    const options = {
      agent: 'support',
      send: 'answers',
      blocks: { charsMin: 100, charsMax: 1_000, idleMs: 0 },
      pause: { minMs: 100, maxMs: 200 },
      thinking: 'separate',
      silentToken: 'NOTHING',
      session: 'channel',
      respondTo: 'all',
      users: ['U1'],
      apiUrl: 'http://127.0.0.1:9999/api/',
    };
    const agents = { support: { description: 'Helps.', prompt: 'You help.' } };
    expect(checkConfig({ agents, channels: { team: { ...TEAM, ...options } } }, [])).toHaveProperty('config');
  });

  it.each([
    ['Team', TEAM, 'channels.Team: '],
    ['team', { ...TEAM, botToken: 'xoxb-1' }, 'channels.team.botToken: a reference like'],
    ['team', { ...TEAM, kind: 'irc' }, 'channels.team.kind: '],
    ['team', { ...TEAM, agent: 'nobody' }, 'channels.team.agent: no agent "nobody"'],
    ['team', { ...TEAM, apiUrl: 'http://slack.example.com/api' }, 'channels.team.apiUrl: '],
    ['team', { ...TEAM, blocks: { charsMin: 500, charsMax: 200 } }, 'channels.team.blocks.charsMin: at most charsMax, 200'],
    ['team', { ...TEAM, pause: { minMs: 5, maxMs: 2 } }, 'channels.team.pause.minMs: at most maxMs, 2'],
  ])('a channel that is wrong is refused with its path: %s %j', (name, channel, problem) => {
    const checked = checkConfig({ channels: { [name]: channel } }, []);
    expect('problems' in checked ? checked.problems.join('\n') : '').toContain(problem);
  });

  it('a key without a value is an error of the start', () => {
    // the start ends before it needs more of the config and the server
    const config = {
      config: { channels: { team: TEAM } },
      keys: { resolve: () => undefined, problem: (reference: string) => `SECRET_UNSET ${reference}` },
    } as unknown as LoadedConfig;
    expect(() => openChannelDoors({ config, place: {} as Place, say: () => undefined })).toThrow('SECRET_UNSET env:SECRET');
  });
});
