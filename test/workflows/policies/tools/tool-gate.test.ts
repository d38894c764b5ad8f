import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type GatedTool, offersTool } from '../../../../src/contracts/access/gate-profile.js';
import { GatePolicy, GateProfile, type GateRule } from '../../../../src/contracts/schemas/policy.js';
import { DESTRUCTIVE_COMMANDS } from '../../../../src/define/agent-gate.js';
import { gateTool } from '../../../../src/workflows/policies/tools/tool-gate.js';
import { cpuMs } from '../../../support/cpu-time.js';

const READ: GatedTool = { name: 'read_file', effect: 'read', network: false };
const WRITE: GatedTool = { name: 'write_file', effect: 'idempotent', network: false };
const SHELL: GatedTool = { name: 'run_command', effect: 'once' };

describe('gateTool', () => {
  it.each([
    ['all', ['allow', 'allow', 'allow']],
    ['read-only', ['allow', 'block', 'block']],
    ['no-network', ['allow', 'allow', 'block']],
    ['ask-before-writing', ['allow', 'ask', 'ask']],
  ] as const)('the profile %s says %j of reading, writing and a command', (profile, decisions) => {
    expect([READ, WRITE, SHELL].map((tool) => decide({ profile }, tool))).toEqual(decisions);
  });

  it('the first rule that matches decides, before the profile', () => {
    const rules: GateRule[] = [
      { tool: 'run_command', command: 'git push', decision: 'ask', reason: 'others see it' },
      { tool: 'run_command', command: 'git', decision: 'allow' },
      { tool: 'run_*', decision: 'block' },
    ];
    const gate = { profile: 'read-only', rules } as const;
    expect(run(gate, 'git push origin')).toEqual({ decision: 'ask', by: 'gate', reason: 'others see it' });
    expect(run(gate, 'git log -3').decision).toBe('allow');
    expect(run(gate, 'git log; git push').decision).toBe('ask');
    expect(run(gate, 'git log; ls').decision).toBe('block');
    expect(decide(gate, WRITE)).toBe('block');
  });

  it.each([undefined, 7, null, ['git']])('a command that is %j is never allowed by a rule for a simple one', (command) => {
    const rules: GateRule[] = [{ tool: 'run_command', command: 'git', decision: 'allow' }];
    const args = command === undefined ? {} : { command };
    expect(gateTool(GatePolicy.parse({ profile: 'read-only', rules }), SHELL, args).decision).toBe('block');
  });

  it.each([
    ['.git/config', 'ask'],
    ['./.git/config', 'ask'],
    ['a/../.git/config', 'ask'],
    ['/home/someone/project/.git/config', 'ask'],
    ['../project/.git/config', 'ask'],
    ['docs/.github/x', 'allow'],
    ['a/.git/config', 'allow'],
  ] as const)('X11: a rule that asks before .git/** is written says of %s: %s', (path, decision) => {
    const rules: GateRule[] = [{ tool: 'write_file', paths: ['.git/**'], decision: 'ask' }];
    for (const key of ['path', 'file_path']) expect(gateTool(GatePolicy.parse({ rules }), WRITE, { [key]: path }).decision).toBe(decision);
  });

  it.each([
    ['docs/a.md', 'allow'],
    ['docs/../src/a.ts', 'block'],
    ['/etc/docs/a.md', 'block'],
    ['../docs/a.md', 'block'],
    ['~/docs/a.md', 'block'],
    [7, 'block'],
  ] as const)('a rule that allows docs/** says of %s: %s', (path, decision) => {
    const rules: GateRule[] = [{ tool: 'write_file', paths: ['docs/**'], decision: 'allow' }];
    expect(gateTool(GatePolicy.parse({ profile: 'read-only', rules }), WRITE, { path }).decision).toBe(decision);
  });

  it('a call with two paths is allowed only when the rule means both, and refused when it means one', () => {
    const both = { path: 'docs/a.md', file_path: 'src/a.ts' };
    const allow: GateRule[] = [{ tool: '*', paths: ['docs/**'], decision: 'allow' }];
    const block: GateRule[] = [{ tool: '*', paths: ['docs/**'], decision: 'block' }];
    expect(gateTool(GatePolicy.parse({ profile: 'read-only', rules: allow }), WRITE, both).decision).toBe('block');
    expect(gateTool(GatePolicy.parse({ rules: block }), WRITE, both).decision).toBe('block');
  });

  it.each([
    'rm -rf .',
    'cd x && rm -fr y',
    'sudo dd if=/dev/zero of=/dev/sda',
    'git reset --hard HEAD~3',
    "bash -c 'git clean -fdx'",
    '$X -rf .',
  ])('A-27: the rules against destructive commands block %j', (command) => {
    expect(run({ rules: [...DESTRUCTIVE_COMMANDS] }, command).decision).toBe('block');
  });

  it.each(['rm notes.tmp', 'git status', 'git push origin main', 'npm run format && npm test', 'chmod +x run.sh'])(
    'A-27: the rules against destructive commands let %j run',
    (command) => {
      expect(run({ rules: [...DESTRUCTIVE_COMMANDS] }, command).decision).toBe('allow');
    },
  );

  it('says why a call does not just run', () => {
    expect(gateTool(GatePolicy.parse({ profile: 'read-only' }), WRITE, {}).reason).toBe('the profile read-only does not allow this tool');
    const rules: GateRule[] = [{ tool: 'run_command', command: 'rm -rf', decision: 'block' }];
    expect(run({ rules }, 'rm -rf x').reason).toBe('the rule for run_command rm -rf');
  });
});

describe('a gate with many rules', () => {
  it.each([
    ['separators', 'a; '.repeat(10_000)],
    ['quotes', `'a'"`.repeat(7_500)],
    ['words', `${'x '.repeat(14_990)}$`],
    ['escapes', '\\'.repeat(30_000)],
    ['assignments', `${'A=1 '.repeat(7_400)}$X`],
    ['reserved words', 'if '.repeat(10_000)],
    ['more than can run', 'a;'.repeat(500_000)],
    ['open brackets', 'a['.repeat(15_000)],
    ['redirections', '>a '.repeat(10_000)],
    ['quoted texts', `"a\\"b"'c'`.repeat(3_000)],
    ['an option with its text', `python3 -${'e'.repeat(29_000)}"`],
  ])('judges the longest command of %s in a moment', (_, command) => {
    const rules = [...DESTRUCTIVE_COMMANDS, ...DESTRUCTIVE_COMMANDS];
    const startedAt = cpuMs();
    run({ rules }, command);
    expect(cpuMs() - startedAt).toBeLessThan(500);
  });

  it.each(['/', '../', ''])(
    'judges a path of 1 MB that begins with %j in a moment: longer than any there is, only a refusal matches it',
    (start) => {
      const path = start + 'a/'.repeat(500_000);
      const startedAt = cpuMs();
      expect(gateTool(GatePolicy.parse({ rules: fiftyRules('block') }), WRITE, { path }).decision).toBe('block');
      expect(gateTool(GatePolicy.parse({ profile: 'read-only', rules: fiftyRules('allow') }), WRITE, { path }).decision).toBe('block');
      expect(gateTool(GatePolicy.parse({ rules: fiftyRules('ask') }), WRITE, { path: start + 'a/'.repeat(2_000) }).decision).toBe('allow');
      expect(cpuMs() - startedAt).toBeLessThan(500);
    },
  );
});

describe('offersTool', () => {
  it('a tool that no call of could run is not offered', () => {
    expect(offered({ profile: 'read-only' })).toBe(1);
    expect(offered({ profile: 'read-only', rules: [{ tool: 'run_command', command: 'git', decision: 'allow' }] })).toBe(2);
    expect(offered({ rules: [{ tool: 'run_*', decision: 'block' }] })).toBe(2);
    expect(offered({ rules: [{ tool: 'run_*', command: 'rm', decision: 'block' }] })).toBe(3);
    expect(offered({ profile: 'ask-before-writing' })).toBe(3);
  });

  it('whatever the gate lets run was offered', () => {
    const name = fc.constantFrom('read_file', 'write_file', 'run_command', 'x');
    const rule = fc.record(
      {
        tool: fc.constantFrom('*', 'run_*', 'write_file', '*_file', 'x'),
        command: fc.constantFrom('git', 'rm -rf'),
        paths: fc.constantFrom(['a/**'], ['*.md']),
        decision: fc.constantFrom('allow' as const, 'block' as const, 'ask' as const),
      },
      { requiredKeys: ['tool', 'decision'] },
    );
    const policy = fc.record({ profile: fc.constantFrom(...GateProfile.options), rules: fc.array(rule, { maxLength: 4 }) });
    const tool = fc.record({
      name,
      effect: fc.constantFrom('read' as const, 'idempotent' as const, 'once' as const),
      network: fc.boolean(),
    });
    const args = fc.record({ command: fc.constantFrom('git x', 'rm -rf x', 'ls; rm'), path: fc.constantFrom('a/b', 'c.md', '/d') });
    fc.assert(
      fc.property(policy, tool, args, (given, one, call) => {
        const parsed = GatePolicy.parse(given);
        fc.pre(gateTool(parsed, one, call).decision !== 'block');
        expect(offersTool(parsed, one)).toBe(true);
      }),
    );
  });
});

function fiftyRules(decision: GateRule['decision']): GateRule[] {
  return Array.from({ length: 50 }, () => ({ tool: '*', paths: ['.git/**', '**/x/**/y'], decision }));
}

/** How many of the three tools the model is shown. */
function offered(gate: Partial<GatePolicy>): number {
  return [READ, WRITE, SHELL].filter((tool) => offersTool(GatePolicy.parse(gate), tool)).length;
}

function decide(gate: Partial<GatePolicy>, tool: GatedTool): string {
  return gateTool(GatePolicy.parse(gate), tool, {}).decision;
}

function run(gate: Partial<GatePolicy>, command: string) {
  return gateTool(GatePolicy.parse(gate), SHELL, { command });
}
