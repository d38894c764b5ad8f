import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useCliFolders } from '../support/cli.js';

const CONFIG = {
  agents: { asker: { description: 'Asks.', prompt: 'Ask.', tools: ['ask_user'] } },
};

const QUESTION = { question: 'Which region?', choices: ['eu', 'us'] };
const SCRIPT = { steps: [{ toolCalls: [{ name: 'ask_user', args: QUESTION }] }, { text: 'all done' }] };

describe('a run whose process is killed while a question waits', { timeout: 180_000 }, () => {
  const makeFolder = useCliFolders();

  it('still waits: answer starts a worker in the background, a wrong answer changes nothing, and the run ends with the right one', async () => {
    const folder = await makeFolder();
    await writeFile(join(folder.path, 'perdure.config.json'), JSON.stringify(CONFIG));
    await writeFile(join(folder.path, 'script.json'), JSON.stringify(SCRIPT));
    const running = folder.start(['run', 'ask me', '--agent', 'asker', '--model', 'scripted/script.json', '--id', 'r1']);
    await running.saw(/question: Which region\? \[1\. eu, 2\. us\]/u);
    await running.saw(/answer with: perdure answer r1 \S+ "ANSWER" +or: perdure deny r1 \S+/u);
    const [waiting] = JSON.parse((await folder.run(['approvals', '--json'])).stdout) as [{ callId: string }];
    expect(waiting).toMatchObject({ runId: 'r1', tool: 'ask_user', ...QUESTION });
    running.child.kill('SIGKILL');
    await running.ended;

    const { callId } = waiting;
    const wrong = await folder.run(['answer', 'r1', callId, 'mars']);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('BAD_ANSWER: answer with one of: 1. eu, 2. us') });
    const shown = await folder.run(['show', 'r1']);
    expect(shown.stdout).toContain(`question       Which region? (${callId})\n               1. eu\n               2. us\n`);
    expect(shown.stdout).toContain(`answer         perdure answer r1 ${callId} "ANSWER"`);
    expect((await folder.run(['approvals', 'r1'])).stdout).toContain(`r1 ${callId}: Which region?\n           1.  eu\n           2.  us\n`);
    const answered = await folder.run(['answer', 'r1', callId, '2', '--by', 'ada', '--json']);
    expect(JSON.parse(answered.stdout)).toMatchObject({ runId: 'r1', callId, outcome: 'answered', answer: 'us', by: 'ada' });
    expect(JSON.parse((await folder.run(['watch', 'r1', '--json'])).stdout)).toMatchObject({
      reason: 'completed',
      output: 'all done',
      toolCalls: 1,
    });
    expect(await folder.run(['answer', 'r1', callId, '1'])).toMatchObject({ code: 4, stderr: expect.stringContaining('RUN_CLOSED') });
  });
});
