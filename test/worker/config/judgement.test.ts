import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/worker/config/load-config.js';
import { useTempFolder } from '../../support/temp-folder.js';
import { configProblems } from '../support/config-problems.js';

describe('loadConfig: how an agent is judged', () => {
  const folder = useTempFolder('perdure-config-');

  it.each([
    [
      `preset: 'opperator'`,
      'agents.a.preset: Invalid option: expected one of "operator"|"zkit"|"openclaw"|"forge"|"orbiter" (did you mean operator?)',
    ],
    [`presett: 'forge'`, 'agents.a.presett: unknown (did you mean preset?)'],
    [`loop: { stop: 3 }`, 'agents.a.loop.stop: unknown (did you mean stopAt?)'],
    [`loop: { onLoop: 'eror' }`, '(did you mean error?)'],
    [`loop: { stopAt: 1 }`, 'agents.a.loop.stopAt: '],
    [`budget: { maxTokens: -1, maxcost: 3 }`, 'agents.a.budget.maxcost: unknown (did you mean maxCostUsd?)'],
    [`completion: { checks: ['plan-done'] }`, 'agents.a.completion.checks.0: '],
    [
      `completion: { phases: [{ name: 'test', tool: ['run_command'] }] }`,
      'agents.a.completion.phases.0.tool: unknown (did you mean tools?)',
    ],
    [
      `completion: { phases: [{ name: 'test', tools: ['run_comand'] }] }`,
      'agents.a.completion.phases.0: no tool named "run_comand" (did you mean run_command?)',
    ],
    [`completion: { planTool: 'plan' }`, 'agents.a.completion.planTool: no tool named "plan"'],
    [`completion: { custom: true }`, 'agents.a.completion.custom: unknown'],
    [`completionGate: 'yes'`, 'agents.a.completionGate: a function of the context'],
    [`gate: { profil: 'all' }`, 'agents.a.gate.profil: unknown (did you mean profile?)'],
    [`gate: { rules: [{ tool: 'x', decision: 'alow' }] }`, 'agents.a.gate.rules.0.decision: '],
    [`gate: 'readonly'`, 'agents.a.gate: Invalid option'],
    [`approvalExpireMs: 5`, 'agents.a.approvalExpireMs: '],
    [`compaction: { strategies: ['tierd'] }`, '(did you mean tiered?)'],
    [`compaction: { strategies: ['trim', 'custom'] }`, 'agents.a.compaction.strategies.1: "custom" needs a compactor in the config'],
    [`compaction: { summaryModel: 'nobody/m' }`, 'agents.a.compaction.summaryModel: unknown provider "nobody"'],
    [`autoExtend: { step: 5 }`, 'agents.a.autoExtend.hardCap: '],
    [`autoExtend: { step: 5, hardCap: 10 }, maxTurns: 20`, 'agents.a.autoExtend.hardCap: 10 is below maxTurns 20'],
    [`readToolsParallelMax: 17`, 'agents.a.readToolsParallelMax: '],
  ])('an option of the judgement that is wrong is told with its path: %s', async (options, part) => {
    expect(await problemsOf(`{ agents: { a: { description: 'd', prompt: 'p', ${options} } } }`)).toContain(part);
  });

  it('an agent takes all options of the judgement, and what it leaves out stays out', async () => {
    const options = {
      preset: 'zkit',
      gate: { profile: 'read-only', rules: [] },
      autoExtend: { step: 5, hardCap: 60 },
      onMaxTurns: 'error',
      finaliseAtRemainingTurns: 5,
      finaliseMessage: 'Wrap up.',
      loop: { stopAt: 4 },
      quality: false,
      approvalExpireMs: 60_000,
      completion: { checks: ['phases-done'], phases: [{ name: 'test', tools: ['run_command'], command: 'npm test' }] },
      memo: false,
      output: { keep: 'head' },
      budget: { maxTokens: 9, onBudget: 'ask' },
      drain: 'one',
      thinkingTokensMax: 500,
      compaction: { strategies: ['trim', 'tiered'] },
      firstToolChoice: 'required',
      readToolsParallelMax: 2,
    };
    await write('perdure.config.json', JSON.stringify({ agents: { a: { description: 'd', prompt: 'p', ...options } } }));
    expect((await load()).config.agents?.['a']).toEqual({ description: 'd', prompt: 'p', ...options });
  });

  it('an agent of a file takes the options of the judgement in its front matter', async () => {
    const options = 'description: d\npreset: forge\nloop: { onLoop: error, stopAt: 3 }\nbudget: { maxCostUsd: 0.5 }';
    await write('agents/careful.md', `---\n${options}\n---\nBe careful.`);
    expect((await load()).config.agents?.['careful']).toEqual({
      description: 'd',
      prompt: 'Be careful.',
      preset: 'forge',
      loop: { onLoop: 'error', stopAt: 3 },
      budget: { maxCostUsd: 0.5 },
    });
    await write('agents/careful.md', '---\ndescription: d\nloop: { stopAtt: 3 }\n---\nBe careful.');
    await expect(load()).rejects.toMatchObject({
      message: expect.stringContaining('agents.careful.loop.stopAtt: unknown (did you mean stopAt?)'),
    });
  });

  async function write(name: string, text: string): Promise<void> {
    await mkdir(dirname(join(folder.path, name)), { recursive: true });
    await writeFile(join(folder.path, name), text);
  }

  function load() {
    return loadConfig({ cwd: folder.path, env: { XDG_CACHE_HOME: join(folder.path, 'cache') } });
  }

  async function problemsOf(text: string): Promise<string> {
    await write('perdure.config.mjs', `export default ${text};`);
    return await configProblems(load());
  }
});
