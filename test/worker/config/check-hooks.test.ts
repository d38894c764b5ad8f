import { describe, expect, it } from 'vitest';
import { checkConfig } from '../../../src/worker/config/check-config.js';

const run = () => ({ action: 'allow' }) as const;
const HOOK = { name: 'h', on: 'before-tool', run };

describe('hooks and gates of a config', () => {
  it('A-28: a config without hooks has none, and an empty list is as good', () => {
    expect(checkConfig({}, [])).toMatchObject({ config: {} });
    expect(checkConfig({ hooks: [] }, [])).toMatchObject({ config: { hooks: [] } });
  });

  it('takes hooks of every place, with all their options', () => {
    const places = ['before-run', 'before-model', 'after-model', 'after-run', 'error'].map((on) => ({ name: on, on, run }));
    const around = { ...HOOK, tools: ['write_*', 'run_command'], paths: ['src/**'], priority: -1, timeoutMs: 100, onError: 'allow' };
    expect(checkConfig({ hooks: [...places, around] }, [])).toHaveProperty('config');
  });

  it.each([
    [{ ...HOOK, on: 'before-tools' }, 'hooks.0.on: '],
    [{ ...HOOK, timeoutMs: 0 }, 'hooks.0.timeoutMs: '],
    [{ ...HOOK, timeoutMs: 3_600_000 }, 'hooks.0.timeoutMs: '],
    [{ ...HOOK, onError: 'ignore' }, 'hooks.0.onError: '],
    [{ ...HOOK, run: 'echo' }, 'hooks.0.run: a function of the context'],
    [{ ...HOOK, tool: ['x'] }, 'hooks.0.tool: unknown (did you mean tools?)'],
    [{ ...HOOK, name: '' }, 'hooks.0.name: '],
    [{ ...HOOK, tools: ['write_flie'] }, 'hooks.h.tools: no tool named "write_flie" (did you mean write_file?)'],
    [{ ...HOOK, tools: ['git_*'] }, 'hooks.h.tools: no tool named "git_*"'],
    [{ ...HOOK, tools: ['run_command'], paths: ['.git/**'] }, 'hooks.h.paths: run_command takes no path'],
    [
      { ...HOOK, on: 'before-run', tools: ['write_file'] },
      'hooks.h: tools and paths filter tool calls; remove them from a before-run hook',
    ],
  ])('a hook that is wrong is told with its path: %j', (hook, problem) => {
    expect(problemsOf({ hooks: [hook] })).toContain(problem);
  });

  it('all problems are told at once, also two hooks of one name', () => {
    const problems = problemsOf({ hooks: [HOOK, { ...HOOK, tools: ['nope'] }] });
    expect(problems).toContain('hooks: "h" is defined twice');
    expect(problems).toContain('hooks.h.tools: no tool named "nope"');
  });

  it.each([
    ['read-only'],
    [{ profile: 'no-network' }],
    [{ rules: [{ tool: 'run_command', command: 'git push', decision: 'ask', reason: 'others see it' }] }],
    [{ rules: [{ tool: '*', paths: ['.git/**'], decision: 'block' }] }],
    [run],
  ])('the gate of an agent may be %j', (gate) => {
    expect(checkConfig({ agents: { a: { description: 'd', prompt: 'p', gate } } }, [])).toHaveProperty('config.agents.a.gate', gate);
  });

  it.each([
    [{ tool: 'run_comand', decision: 'block' }, 'agents.a.gate.rules.0.tool: no tool named "run_comand" (did you mean run_command?)'],
    [{ tool: 'run_command', command: ' ', decision: 'block' }, 'agents.a.gate.rules.0.command: use the first words of a command'],
    [{ tool: 'write_file', paths: ['{a,b}/**'], decision: 'allow' }, 'agents.a.gate.rules.0.paths: "{a,b}/**": only *, ** and ?'],
    [{ tool: 'run_command', paths: ['.git/**'], decision: 'block' }, 'agents.a.gate.rules.0.paths: run_command takes no path'],
    [{ tool: '*_file', command: 'rm', decision: 'block' }, 'agents.a.gate.rules.0.command: *_file takes no command'],
    [{ tool: 'write_file', decision: 'deny' }, 'agents.a.gate.rules.0.decision: '],
    [{ tool: 'write_file', path: ['x'], decision: 'ask' }, 'agents.a.gate.rules.0.path: unknown (did you mean paths?)'],
  ])('a rule that could never match, and would be relied upon, is told: %j', (rule, problem) => {
    expect(problemsOf({ agents: { a: { description: 'd', prompt: 'p', gate: { rules: [rule] } } } })).toContain(problem);
  });
});

function problemsOf(config: unknown): string {
  const checked = checkConfig(config, []);
  return 'problems' in checked ? checked.problems.join('\n') : '';
}
