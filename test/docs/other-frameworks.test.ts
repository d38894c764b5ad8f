import { describe, expect, it } from 'vitest';
import { EXECUTOR_LIMITS, RUN_LIMITS, TOOL_LIMITS } from '../../src/contracts/constants/limits.js';
import { executorOf, useTalkedRuns } from '../providers/support/executor-child.js';
import { pageText } from './support/pages.js';

const run = useTalkedRuns();
const page = pageText('docs/guides/other-frameworks.md');
const words = page.replaceAll(/\s+/gu, ' ');

describe('docs/guides/other-frameworks.md', () => {
  it('the program for Node speaks the protocol, and has at most thirty lines', async () => {
    const program = /## Write the child process[\s\S]*?```js\n(?<code>[\s\S]*?)```/u.exec(page)?.groups?.['code'] ?? '';
    expect(program.trimEnd().split('\n').length).toBeLessThanOrEqual(30);
    const talk = run(executorOf('', { args: ['--input-type=module', '-e', program] }), 'Husum');
    expect(await talk.ask()).toMatchObject({ stop: 'tool_calls', parts: [{ name: 'high_tide', args: { harbour: 'Husum' } }] });
    talk.results('14:05');
    talk.user('Use local time.');
    expect(await talk.ask()).toMatchObject({ stop: 'end', parts: [{ type: 'text', text: 'High tide: 14:05\nUse local time.' }] });
  });

  it.each([
    ['timeoutMs', `| \`timeoutMs\` | ${EXECUTOR_LIMITS.timeoutMsDefault / 60_000} minutes |`],
    ['the activity’s margin', `The activity has ${EXECUTOR_LIMITS.timeoutMarginMs / 1_000} s more`],
    ['idleMs', `| \`idleMs\` | ${EXECUTOR_LIMITS.idleMsDefault / 60_000} minutes |`],
    ['after a final answer', `| after a final answer | ${EXECUTOR_LIMITS.afterFinalMs / 1_000} s |`],
    ['a line', `| a line | ${EXECUTOR_LIMITS.lineBytesMax / 1_024 ** 2} MiB |`],
    ['output', `| output between two answers | ${EXECUTOR_LIMITS.outputBytesMax / 1_024 ** 2} MiB |`],
    ['calls', `| calls of a batch | ${RUN_LIMITS.callsPerAnswerMax} |`],
    ['cancel', `the line, ${EXECUTOR_LIMITS.cancelGraceMs / 1_000} s, SIGTERM, ${TOOL_LIMITS.killGraceMs / 1_000} s, SIGKILL`],
  ])('its number of %s is the one of the code', (_name, text) => {
    expect(words).toContain(text);
  });
});
