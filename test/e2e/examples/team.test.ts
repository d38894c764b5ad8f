import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { RunResult } from '../../../src/contracts/schemas/run.js';
import { readDevServerRecord } from '../../../src/worker/dev-server/record.js';
import { useExample, VISIBLE } from './support/example-folder.js';

describe('the team example', () => {
  const example = useExample('team', VISIBLE);

  it('a lead and its sub-agents end with the same file and the same cost, also when worker and server are killed meanwhile', async () => {
    const { stdout, stderr } = await example.start('whole');
    expect(stdout).toContain('RELEASE.md has the two changes of release 1.5.0.');
    expect(stderr).toMatch(/sub-agent whole\/scout-2 ended: completed/u);
    expect(stderr).not.toContain('MCP server');
    const whole = await resultOf('whole');
    expect(whole.subagents?.map(({ runId, reason }) => `${runId} ${reason}`).toSorted()).toEqual([
      'whole/scout-1 completed',
      'whole/scout-2 completed',
      'whole/writer-1 completed',
    ]);
    expect(await release()).toContain('search field');

    const options = ['--agent', 'lead', '--workspace', 'playground', '--max-tokens', '60000', '--id', 'killed'];
    const command = example.spawn(['run', 'Write the release notes.', ...options]);
    // the scouts work, and the call of the MCP server takes longer than both
    await command.prints('sub-agent killed/scout-2 started');
    await command.kill('SIGKILL');
    const server = await readDevServerRecord(example.path('.perdure'));
    expect(server).toBeDefined();
    process.kill(server?.serverPid ?? 0, 'SIGKILL');

    const killed = (await example.ask('watch', 'killed')) as RunResult;
    expect(killed).toMatchObject({ reason: 'completed', output: whole.output, costUsd: whole.costUsd, toolCalls: whole.toolCalls });
    // the tokens of a request that was under way are counted, and it was asked again
    expect(killed.usage.inputTokens).toBeGreaterThanOrEqual(whole.usage.inputTokens);
    expect(endsOf(killed)).toEqual(endsOf(whole));
    expect(await release()).toContain('search field');
    expect(await readdir(example.path('playground', 'memory'))).toHaveLength(1);
  });

  async function resultOf(runId: string): Promise<RunResult> {
    return ((await example.ask('show', runId)) as { result: RunResult }).result;
  }

  async function release(): Promise<string> {
    return await readFile(example.path('playground', 'RELEASE.md'), 'utf8');
  }
});

/** How each sub-agent ended, and its cost. */
function endsOf({ runId: parent, subagents = [] }: RunResult): string[] {
  return subagents.map(({ runId, reason, costUsd }) => `${runId.slice(parent.length)} ${reason} ${costUsd}`).toSorted();
}
