import { describe, expect, it } from 'vitest';
import { offerMemory } from '../../../../src/activities/prepare/offer/offer-memory.js';
import { DEFAULT_POLICY, type RunPolicy } from '../../../../src/contracts/schemas/policy.js';
import type { AgentDefinition } from '../../../../src/define/define-agent.js';
import type { MemoryDefinition } from '../../../../src/define/worker/memory.js';
import { createMemoryTools } from '../../../../src/tools/memory/memory-tools.js';

const WITH = { task: 'go', context: { workspace: '/work' } };
const WITHOUT = { task: 'go' };

function offer(
  input: typeof WITH | typeof WITHOUT,
  agent: Partial<AgentDefinition> = {},
  { memory, policy = DEFAULT_POLICY }: { readonly memory?: MemoryDefinition; readonly policy?: RunPolicy } = {},
) {
  const options = { config: memory ? { memory } : {}, memoryTools: createMemoryTools(memory ?? {}) };
  const { tools, prompt } = offerMemory(input, { agent: { description: 'd', prompt: 'p', ...agent }, policy }, options);
  return { names: tools.map(({ name }) => name), prompt };
}

describe('the memory that a run is offered', () => {
  it('is none without memory in the config, and its prompt is unchanged', () => {
    expect(offer(WITH)).toEqual({ names: [], prompt: '' });
  });

  it('is that of the config for an agent without a list, and that of its list for another one', () => {
    const memory = {};
    expect(offer(WITH, {}, { memory }).names).toEqual(['remember', 'recall']);
    expect(offer(WITH, { tools: ['read_file'] }, { memory }).names).toEqual([]);
    expect(offer(WITH, { tools: ['recall'] }).names).toEqual(['recall']);
    expect(offer(WITH, { blockedTools: ['remember'] }, { memory }).names).toEqual(['recall']);
  });

  it('of the workspace needs a workspace; of the user needs none', () => {
    expect(offer(WITHOUT, {}, { memory: {} }).names).toEqual([]);
    expect(offer(WITHOUT, {}, { memory: { scope: 'user' } }).names).toEqual(['remember', 'recall']);
  });

  it('has a section of the prompt for the tools that the gate leaves', () => {
    const policy = { ...DEFAULT_POLICY, gate: { ...DEFAULT_POLICY.gate, profile: 'read-only' as const } };
    const { names, prompt } = offer(WITH, {}, { memory: {}, policy });
    expect(names).toEqual(['recall']);
    expect(prompt).toMatch(/^# Memory\n\nSearch the notes of earlier runs with recall/u);
    expect(prompt).not.toContain('remember');
  });
});
