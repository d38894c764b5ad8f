import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolveCaps } from '../../../src/activities/prepare/run-caps.js';
import { resolvePolicy } from '../../../src/activities/prepare/run-policy.js';
import { DEFAULT_POLICY, OnLoop, RunPolicy } from '../../../src/contracts/schemas/policy.js';
import type { RunInput } from '../../../src/contracts/schemas/run.js';
import { AgentDefinition } from '../../../src/define/define-agent.js';
import type { Config } from '../../../src/define/define-config.js';
import { PRESETS, PresetName } from '../../../src/define/presets.js';

const HOOK = { name: 'h', run: () => ({ action: 'allow' as const }) };

describe('resolvePolicy', () => {
  it('an agent that says nothing has the defaults', () => {
    expect(policyOf({})).toEqual(DEFAULT_POLICY);
  });

  it("the preset lies over the defaults, the agent's own options over the preset, the input over both", () => {
    expect(policyOf({ preset: 'forge' }).onMaxTurns).toBe('error');
    expect(policyOf({ preset: 'forge', onMaxTurns: 'result' }).onMaxTurns).toBe('result');
    expect(policyOf({ budget: { onBudget: 'ask' } }).onBudget).toBe('ask');
    expect(policyOf({ budget: { onBudget: 'ask' } }, { onBudget: 'finish' }).onBudget).toBe('finish');
  });

  it('an option with parts is laid over part by part', () => {
    const { loop, output, completion } = policyOf({ preset: 'operator', loop: { stopAt: 6 }, output: { keep: 'head' } });
    expect(loop).toEqual({ onLoop: 'nudge-then-stop', nudgeAt: 3, blockAt: 3, stopAt: 6 });
    expect(output).toEqual({ ...DEFAULT_POLICY.output, keep: 'head', exact: { above: 1_200, head: 700, tail: 260 } });
    expect(completion).toEqual(DEFAULT_POLICY.completion);
  });

  it('a list is one part: it replaces the list below it', () => {
    expect(policyOf({ preset: 'forge', completion: { checks: ['plan-finished'] } }).completion).toMatchObject({
      checks: ['plan-finished'],
      attemptsMax: 1,
    });
    expect(policyOf({ preset: 'operator', gate: { rules: [] } }).gate).toEqual({ profile: 'all', rules: [] });
  });

  it("a profile alone keeps the preset's rules; a function has the default, for it is asked in an activity", () => {
    const { rules } = policyOf({ preset: 'operator' }).gate;
    expect(rules).toContainEqual({ tool: 'run_command', command: 'rm -rf', decision: 'block', reason: 'destructive command' });
    expect(policyOf({ preset: 'operator', gate: 'read-only' }).gate).toEqual({ profile: 'read-only', rules });
    expect(policyOf({ gate: () => ({ action: 'block', reason: 'no' }) })).toMatchObject({ gate: DEFAULT_POLICY.gate, gateFunction: true });
  });

  it("a gate of the agent's own is asked; an output schema is no such gate", () => {
    expect(policyOf({}, { outputSchema: {} }).completion.custom).toBe(false);
    expect(policyOf({ completionGate: () => ({ accept: true }) }).completion.custom).toBe(true);
  });

  it('hooks of the config are told by their place', () => {
    const hooks: Config['hooks'] = [
      { ...HOOK, on: 'before-run' },
      { ...HOOK, on: 'after-tool' },
    ];
    expect(policyOf({}, {}, { hooks }).hooks).toEqual({ beforeRun: true, afterRun: false, error: false, unknownTools: true });
  });

  it.each([
    [25, { step: 12, hardCap: 100 }],
    [4, { step: 10, hardCap: 16 }],
    [200, { step: 100, hardCap: 500 }],
    [600, { step: 300, hardCap: 600 }],
  ])('A-16: operator extends a cap of %d by half of it, at least 10, up to four times it, at most 500', (maxTurns, autoExtend) => {
    expect(policyOf({ preset: 'operator', maxTurns }).autoExtend).toEqual(autoExtend);
  });

  it.each(PresetName.options)('%s resolves to a complete policy, and only its own options differ from the defaults', (preset) => {
    const policy = policyOf({ preset });
    expect(RunPolicy.parse(policy)).toEqual(policy);
    const own = new Set([...Object.keys(PRESETS[preset].policy), 'gate', 'autoExtend']);
    const others = (from: RunPolicy) => Object.fromEntries(Object.entries(from).filter(([name]) => !own.has(name)));
    expect(others(policy)).toEqual(others(DEFAULT_POLICY));
  });

  it('for any agent: the policy is complete, and what the agent says stands in it', () => {
    fc.assert(
      fc.property(AGENT_OPTIONS, (options) => {
        const policy = policyOf(options);
        expect(RunPolicy.parse(policy)).toEqual(policy);
        expect(policy.loop).toMatchObject(said(options.loop ?? {}));
        expect(policy).toMatchObject(said({ memo: options.memo, readToolsParallelMax: options.readToolsParallelMax }));
      }),
    );
  });
});

describe('localReadTools', () => {
  it.each<[boolean | undefined, boolean | undefined, boolean]>([
    [undefined, undefined, false],
    [true, undefined, true],
    [true, false, false],
    [undefined, true, true],
  ])('the config says %s, the agent %s: %s', (ofConfig, ofAgent, expected) => {
    const agent = agentOf(ofAgent === undefined ? {} : { localReadTools: ofAgent });
    const config: Config = ofConfig === undefined ? {} : { localReadTools: ofConfig };
    expect(resolvePolicy({ input: { task: 't' }, agent, config, maxTurns: 20 }).localReadTools).toBe(expected);
  });
});

describe('resolveCaps', () => {
  it("the turn cap is the input's, the agent's, the preset's, the config's, the default, in this order", () => {
    const config: Config = { limits: { maxTurns: 9 } };
    const cap = (options: Partial<AgentDefinition>, input = {}, from = config) =>
      resolveCaps({ task: 't', ...input }, agentOf(options), from).maxTurns;
    expect(cap({ preset: 'zkit', maxTurns: 7 }, { maxTurns: 5 })).toBe(5);
    expect(cap({ preset: 'zkit', maxTurns: 7 })).toBe(7);
    expect(cap({ preset: 'zkit' })).toBe(12);
    expect(cap({})).toBe(9);
    expect(cap({}, {}, {})).toBe(20);
  });

  it.each<[number | undefined, Partial<AgentDefinition>, number | undefined]>([
    [600_000, { preset: 'openclaw' }, undefined],
    [5_000, { preset: 'openclaw', budget: { deadlineMs: 5_000 } }, undefined],
    [2_000, { preset: 'openclaw', budget: { deadlineMs: 5_000 } }, 2_000],
    [undefined, {}, undefined],
  ])('C-02: the deadline is %s for an agent of %j with an input of %s', (deadline, options, deadlineMs) => {
    const input = { task: 't', ...(deadlineMs === undefined ? {} : { deadlineMs }) };
    expect(resolveCaps(input, agentOf(options), {}).deadlineMs).toBe(deadline);
  });
});

const threshold = fc.option(fc.integer({ min: 2, max: 40 }), { nil: undefined });
const AGENT_OPTIONS: fc.Arbitrary<Partial<AgentDefinition>> = fc.record(
  {
    preset: fc.constantFrom(...PresetName.options),
    loop: fc.record({ onLoop: fc.constantFrom(...OnLoop.options), nudgeAt: threshold, stopAt: threshold }, { requiredKeys: [] }),
    memo: fc.boolean(),
    readToolsParallelMax: fc.integer({ min: 1, max: 16 }),
    maxTurns: fc.integer({ min: 1, max: 10_000 }),
  },
  { requiredKeys: [] },
);

/** What has a value: an option that is named without one is as good as left out. */
function said(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function policyOf(options: Partial<AgentDefinition>, input: Partial<RunInput> = {}, config: Config = {}): RunPolicy {
  const agent = agentOf(options);
  const run = { task: 't', ...input };
  return resolvePolicy({ input: run, agent, config, maxTurns: resolveCaps(run, agent, config).maxTurns });
}

function agentOf(options: Partial<AgentDefinition>): AgentDefinition {
  return AgentDefinition.parse({ description: 'd', prompt: 'p', ...options });
}
