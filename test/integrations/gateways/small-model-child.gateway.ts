import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { usePerdureFolders } from '../../e2e/support/perdure-folder.js';
import { useSmallModel } from './support/small-model.js';

const CONFIG = fileURLToPath(new URL('fixtures/notes/perdure.config.mjs', import.meta.url));
const CHILD = fileURLToPath(new URL('../../../examples/executors/langchain_agent.py', import.meta.url));
const TASK = 'Write a note into sea.txt: the sea is blue.';

const { tools } = useSmallModel();

describe('an agent of LangChain on a model that nobody scripted', () => {
  const folder = usePerdureFolders();

  it('is a child process: it calls our tool, reads the result and ends, and the task is done', async () => {
    const python = process.env['PERDURE_TEST_EXECUTORS_PYTHON'];
    if (!python) throw new Error('set PERDURE_TEST_EXECUTORS_PYTHON to a Python with examples/executors/requirements-langchain.txt');
    const here = await folder({});
    await cp(CONFIG, join(here.dir, 'perdure.config.mjs'));
    const env = { NOTES_DIR: here.workspace, CHILD_PYTHON: python, CHILD_SCRIPT: CHILD, CHILD_MODEL_URL: `${tools().url}/v1` };
    const { stdout } = await here.start(['run', TASK, '--agent', 'child', '--json'], env).exits(0);
    const result: unknown = JSON.parse(stdout);
    expect(result).toMatchObject({ reason: 'completed', models: ['subprocess/child'], toolCalls: 1, output: expect.stringMatching(/\S/u) });
    expect(tools().answered()).toBe(2);
    expect(await readFile(join(here.workspace, 'sea.txt'), 'utf8')).toMatch(/the sea is blue/iu);
  });
});
