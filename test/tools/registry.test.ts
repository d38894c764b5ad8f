import { describe, expect, test } from 'vitest';
import { parametersSchema } from '../../src/define/define-tool.js';
import { WORKSPACE_TOOLS } from '../../src/tools/registry.js';

describe('WORKSPACE_TOOLS', () => {
  test('the six tools and what each does to the world', () => {
    expect(WORKSPACE_TOOLS.map(({ name, effect, reconcile }) => [name, effect, reconcile !== undefined])).toEqual([
      ['read_file', 'read', false],
      ['write_file', 'idempotent', false],
      ['edit_file', 'once', true],
      ['list_files', 'read', false],
      ['search_files', 'read', false],
      ['run_command', 'once', false],
    ]);
  });

  test.each(WORKSPACE_TOOLS.map((tool) => [tool.name, tool] as const))(
    'the schema of %s is a closed object whose fields say what they are',
    (_, tool) => {
      const schema = parametersSchema(tool);
      expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
      for (const field of Object.values(schema.properties ?? {}))
        expect(field).toMatchObject({ description: expect.stringMatching(/\.$/u) });
    },
  );
});
