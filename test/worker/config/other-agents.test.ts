import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import { checkConfig } from '../../../src/worker/config/check-config.js';

const agent = { description: 'd', prompt: 'p' };

const tool = (name: string) => defineTool({ name, description: 'd', parameters: z.strictObject({}), execute: () => 'done' });

/** The problems of a config; none when it is valid. */
function problemsOf(config: object): readonly string[] {
  const checked = checkConfig(config, []);
  return 'problems' in checked ? checked.problems : [];
}

/** A lead, and a scout that may delegate back to it. */
const loop = (depth: 1 | 2, allowSelf = false) => ({
  agents: {
    lead: { ...agent, subagents: { agents: ['scout'], depth, allowSelf } },
    scout: { ...agent, subagents: ['lead', 'clerk'] },
    clerk: agent,
  },
});

describe('agents that list other agents', () => {
  it('E-18: a tool of the config with the name of the tool for handoffs or sub-agents is a problem at construction', () => {
    const tools = [tool('handoff'), tool('delegate')];
    const problems = problemsOf({ tools, agents: { desk: { ...agent, handoffs: ['clerk'], subagents: ['clerk'] }, clerk: agent } });
    expect(problems).toEqual([
      expect.stringContaining('agents.desk.subagents: the config has a tool named delegate; rename it'),
      expect.stringContaining('agents.desk.handoffs: the config has a tool named handoff; rename it'),
    ]);
    expect(problemsOf({ tools, agents: { clerk: agent } })).toEqual([]);
  });

  it('B50: a loop of delegations is one line with a code, unless its agent allows it, and two levels that do not return are fine', () => {
    expect(problemsOf(loop(2))).toEqual([
      'agents.lead.subagents: DELEGATE_LOOP lead delegates to scout, which delegates to lead; remove one of them, or set allowSelf',
    ]);
    expect(problemsOf(loop(2, true))).toEqual([]);
    expect(problemsOf(loop(1))).toEqual([]);
  });

  it('an unknown agent and the agent itself are problems, with the name that was probably meant', () => {
    expect(problemsOf({ agents: { desk: { ...agent, handoffs: ['clrek', 'desk'] }, clerk: agent } })).toEqual([
      expect.stringContaining('agents.desk.handoffs: no agent named "clrek" (did you mean clerk?)'),
      expect.stringContaining('agents.desk.handoffs: desk is the agent itself; remove it'),
    ]);
  });

  it('gates and lists of blocked tools may name the tools for other agents', () => {
    const gate = { rules: [{ tool: 'handoff', decision: 'ask' }] };
    expect(problemsOf({ agents: { desk: { ...agent, gate, blockedTools: ['delegate'], handoffs: ['clerk'] }, clerk: agent } })).toEqual([]);
  });
});
