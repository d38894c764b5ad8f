import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { McpClient, useMcpFolders } from '../../cli/support/mcp-client.js';

const folder = useMcpFolders();
const AGENTS = { asker: { description: 'Asks.', prompt: 'Ask.', tools: ['ask_user'] } };
const QUESTION = { question: 'Which region?', choices: ['eu', 'us'] };
const ASK = { steps: [{ toolCalls: [{ name: 'ask_user', args: QUESTION }] }, { text: 'all done' }] };

describe('perdure mcp and a run that asks', { timeout: 120_000 }, () => {
  it('C10: the wait ends with the question, the status lists it, a wrong answer leaves it pending, and the client answers it once', async () => {
    const here = await folder(ASK);
    await writeFile(
      join(here.path, 'perdure.config.ts'),
      `export default ${JSON.stringify({ model: 'scripted/script.json', agents: AGENTS })};`,
    );
    const client = await McpClient.stdio(here);
    expect(await client.tools()).toContain('run_answer');
    await client.call('run_start', { task: 'ask me', agent: 'asker', id: 'r1' });
    expect(await client.call('run_wait', { runId: 'r1', timeoutMs: 50_000 })).toMatchObject({
      done: false,
      progress: { pendingQuestions: 1, waitingFor: 'an answer to: Which region?' },
    });
    const { approvals, questions } = await client.call('run_status', { runId: 'r1' });
    expect(approvals).toEqual([]);
    expect(questions).toMatchObject([{ ...QUESTION, askedBy: 'agent' }]);
    const [{ callId }] = questions as [{ callId: string }];
    expect(await client.fails('run_answer', { runId: 'r1', callId, answer: 'mars' })).toBe('BAD_ANSWER: answer with one of: 1. eu, 2. us');
    expect(await client.fails('run_answer', { runId: 'r1', callId: 'other', answer: 'eu' })).toMatch(/^NO_SUCH_QUESTION: /u);
    const answered = await client.call('run_answer', { runId: 'r1', callId, answer: '2' });
    expect(answered).toMatchObject({ outcome: 'answered', answer: 'us', by: 'mcp:tester' });
    expect(await client.call('run_wait', { runId: 'r1', timeoutMs: 50_000 })).toMatchObject({
      done: true,
      result: { reason: 'completed', output: 'all done' },
    });
    expect(await client.call('run_status', { runId: 'r1' })).toMatchObject({ questions: [] });
    await client.close();
  });

  it('run_deny declines a question; a client that may not decide sees the question, and its wait does not end with it', async () => {
    const here = await folder(ASK);
    await writeFile(
      join(here.path, 'perdure.config.ts'),
      `export default ${JSON.stringify({ model: 'scripted/script.json', agents: AGENTS })};`,
    );
    const watcher = await McpClient.stdio(here, '--no-approvals');
    expect(await watcher.tools()).not.toContain('run_answer');
    await watcher.call('run_start', { task: 'ask me', agent: 'asker', id: 'r1' });
    await expect
      .poll(async () => (await watcher.call('run_status', { runId: 'r1' })).questions, { timeout: 50_000 })
      .toMatchObject([QUESTION]);
    const waiting = watcher.call('run_wait', { runId: 'r1', timeoutMs: 50_000 });
    const decider = await McpClient.stdio(here);
    const { questions } = await decider.call('run_status', { runId: 'r1' });
    const [{ callId }] = questions as [{ callId: string }];
    expect(await decider.call('run_deny', { runId: 'r1', callId, reason: 'Decide yourself.' })).toMatchObject({ decision: 'denied' });
    expect(await waiting).toMatchObject({ done: true, result: { reason: 'completed' } });
    await decider.close();
    await watcher.close();
  });
});
