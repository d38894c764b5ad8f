import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toolTitle } from '../../../src/contracts/text/tool-title.js';

describe('toolTitle', () => {
  test.each([
    ['run_command', { command: 'npm test' }, 'npm test'],
    ['bash', { command: 'ls\n  -la' }, 'ls -la'],
    ['read_file', { path: 'src/deep/notes.md' }, 'Reading notes.md'],
    ['write_file', { path: 'notes.md', content: '…' }, 'Writing notes.md'],
    ['edit_file', { path: 'src/a.ts/' }, 'Editing a.ts'],
    ['list_files', {}, 'Listing files'],
    ['search_files', { pattern: 'TODO' }, 'Searching for TODO'],
    ['send_invoice', { to: 'x' }, 'send invoice'],
    ['run_command', { command: 7 }, 'run command'],
    ['read_file', null, 'Reading a file'],
  ])('%s with %j is shown as "%s"', (name, args, title) => {
    expect(toolTitle(name, args)).toBe(title);
  });

  test('a title cannot move the cursor or turn the direction of its text', () => {
    expect(toolTitle('bash', { command: '\u001B[2Jrm \u202Efoo\u0000bar' })).toBe('[2Jrm foo bar');
  });

  test('any name and any arguments give one well-formed line of 1 to 100 characters', () => {
    const names = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('run_command', 'read_file', 'list_files'));
    const args = fc.oneof(
      fc.anything(),
      fc.record({ command: fc.string({ unit: 'binary', maxLength: 400 }), path: fc.string({ unit: 'binary' }) }),
    );
    fc.assert(
      fc.property(names, args, (name, given) => {
        const title = toolTitle(name, given);
        expect(title.isWellFormed()).toBe(true);
        expect(title).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
        expect(Array.from(title).length).toBeGreaterThan(0);
        expect(Array.from(title).length).toBeLessThanOrEqual(100);
      }),
    );
  });
});
