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
