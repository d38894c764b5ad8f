import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ASKING_SERVER } from '../../activities/mcp/support/asking-desk.js';
import { useCliFolders } from '../../cli/support/cli.js';

const LOOK = { steps: [{ toolCalls: [{ name: 'desk_look', args: {} }] }, { text: 'all done' }] };

describe('a run whose process is killed while its MCP server asks', { timeout: 180_000 }, () => {
  const makeFolder = useCliFolders();

  it('C10: still waits: the answer starts a worker, whose call of the server asks nothing anew and gets it', async () => {
    const folder = await makeFolder();
    const log = join(folder.path, 'log');
    const desk = { command: process.execPath, args: [ASKING_SERVER], cwd: folder.path, env: { LOG: log }, elicitation: true };
    const agents = { desk: { description: 'Looks.', prompt: 'Look.', mcp: ['desk'] } };
    await writeFile(join(folder.path, 'perdure.config.json'), JSON.stringify({ agents, mcpServers: { desk } }));
    await writeFile(join(folder.path, 'script.json'), JSON.stringify(LOOK));
    const running = folder.start(['run', 'look', '--agent', 'desk', '--model', 'scripted/script.json', '--id', 'r1']);
    await running.saw(/question: MCP server desk: Which place\?/u);
    await running.saw(/answer with: perdure answer r1 \S+ "ANSWER" +or: perdure deny r1 \S+/u);
    const [waiting] = JSON.parse((await folder.run(['approvals', '--json'])).stdout) as [{ callId: string; question: string }];
    expect(waiting).toMatchObject({ runId: 'r1', choices: ['Frankfurt', 'Ohio'] });
    running.child.kill('SIGKILL');
    await running.ended;

    const { callId } = waiting;
    const wrong = await folder.run(['answer', 'r1', callId, 'mars']);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('BAD_ANSWER: answer with one of: 1. Frankfurt, 2. Ohio') });
    expect((await folder.run(['show', 'r1'])).stdout).toContain('MCP server desk');
    expect((await folder.run(['approvals', 'r1'])).stdout).toContain('asked by     MCP server desk');
    const answered = await folder.run(['answer', 'r1', callId, '2', '--by', 'ada', '--json']);
    expect(JSON.parse(answered.stdout)).toMatchObject({ runId: 'r1', callId, outcome: 'answered', answer: 'Ohio', by: 'ada' });
    expect(JSON.parse((await folder.run(['watch', 'r1', '--json'])).stdout)).toMatchObject({
      reason: 'completed',
      output: 'all done',
      toolCalls: 1,
    });
    const lines = (await readFile(log, 'utf8')).trim().split('\n');
    expect(lines.filter((line) => line.startsWith('end look'))).toEqual(['end look {"action":"accept","content":{"place":"us-1"}}']);
  });
});
