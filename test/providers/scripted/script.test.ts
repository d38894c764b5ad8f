import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkScript, parseScript, readScript } from '../../../src/providers/scripted/script-file.js';
import { useTempFolder } from '../../support/temp-folder.js';

describe('a script', () => {
  it('is the same in JSON and in YAML', () => {
    const yaml = 'steps:\n  - text: Looking.\n    toolCalls:\n      - name: read_file\n        args: { path: notes.md }\n  - text: Done.\n';
    const json = JSON.stringify({
      steps: [{ text: 'Looking.', toolCalls: [{ name: 'read_file', args: { path: 'notes.md' } }] }, { text: 'Done.' }],
    });
    expect(parseScript(yaml, 'a.yaml')).toEqual(parseScript(json, 'a.json'));
  });

  it('that has several problems tells all of them with their paths', () => {
    const script = { steps: [{ txt: 'typo' }, { toolCalls: [{ args: {} }], delayMs: -1 }], looop: true };
    const problem = messageOf(() => checkScript(script, 'demo.yaml'));
    expect(problem).toMatch(/^demo\.yaml: /u);
    expect(problem).toMatch(/steps\[0\]: [^;]*"txt"/u);
    expect(problem).toMatch(/steps\[1\]\.toolCalls\[0\]\.name: /u);
    expect(problem).toMatch(/steps\[1\]\.delayMs: /u);
    expect(problem).toMatch(/script: [^;]*"looop"/u);
    expect(problem).not.toContain('\n');
  });

  it.each([
    [{ status: 429, retryafter: 1 }, /steps\[0\]\.fault: [^;]*"retryafter"/u],
    [{ status: 200 }, /steps\[0\]\.fault\.status: /u],
    [{ cutAfterBytes: -1 }, /steps\[0\]\.fault\.cutAfterBytes: /u],
    [{ cutAfterEvent: 'nonsense' }, /steps\[0\]\.fault\.cutAfterEvent: /u],
    [{ stall: true, afterEvent: 'text', pingEveryMs: 0 }, /steps\[0\]\.fault\.pingEveryMs: /u],
  ])('with the fault %j names the field that is wrong', (fault, expected) => {
    expect(messageOf(() => checkScript({ steps: [{ text: 'x', fault }] }, 's'))).toMatch(expected);
  });

  it('without steps is refused', () => {
    expect(messageOf(() => checkScript({ steps: [] }, 's'))).toMatch(/^s: steps: /u);
    expect(messageOf(() => parseScript('', 's'))).toMatch(/^s: script: /u);
  });

  it('cannot both loop and have an end', () => {
    expect(messageOf(() => checkScript({ steps: [{ text: 'x' }], loop: true, whenEnded: { text: 'y' } }, 's'))).toContain('whenEnded: ');
  });

  it('that is neither JSON nor YAML is refused with the place, in one line', () => {
    const problem = messageOf(() => parseScript('{ "steps": [ }', 'broken.json'));
    expect(problem).toMatch(/^broken\.json: neither JSON nor YAML: .*line 1/u);
    expect(problem).not.toContain('\n');
  });
});

describe('readScript', () => {
  const folder = useTempFolder('script-');

  it('reads a file', async () => {
    const file = join(folder.path, 'hello.yaml');
    await writeFile(file, 'steps: [{ text: Hello }]');
    await expect(readScript(file)).resolves.toMatchObject({ steps: [{ text: 'Hello' }] });
  });

  it('of a missing file is BAD_SCRIPT with its name', async () => {
    const file = join(folder.path, 'missing.yaml');
    await expect(readScript(file)).rejects.toMatchObject({ code: 'BAD_SCRIPT', exitCode: 2, message: expect.stringContaining(file) });
  });
});

function messageOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof Error) return error.message;
  }
  throw new Error('nothing was thrown');
}
