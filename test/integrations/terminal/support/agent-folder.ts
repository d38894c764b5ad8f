import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { CliFolder, type CommandProgram } from '../../../cli/support/cli.js';
import { builtFolder } from '../../../support/built-package.js';

/** An agent with tools that need approval, report progress, ask, and give much. */
const CONFIG = `
import { defineConfig, defineTool } from '${builtFolder()}/define/index.js';
const tool = (name, effect, execute, more = {}) =>
  defineTool({ name, description: name, parameters: { type: 'object', properties: {} }, effect, execute, ...more });
const untilStopped = (ctx) => new Promise((resolve) => ctx.signal.addEventListener('abort', resolve, { once: true }));
export default defineConfig({
  agents: { default: { description: 'Tries the terminal.', prompt: 'Work.', tools: ['deploy', 'wait_long', 'many_lines', 'ask_user', 'list_files', 'read_file', 'edit_file'] } },
  tools: [
    tool('deploy', 'once', () => 'deployed', { approval: 'always' }),
    tool('many_lines', 'read', () => Array.from({ length: 10000 }, (_, index) => 'line ' + index).join('\\n')),
    tool('wait_long', 'once', async (_, ctx) => { ctx.heartbeat('step 3 of 10'); await untilStopped(ctx); return 'stopped'; }, { timeoutMs: 300000 }),
  ],
});
`;

/** A folder with the agent and the worker that all commands of a file share. */
export interface AgentFolder {
  /** The command line that runs a script on the agent. */
  run(steps: readonly object[], ...options: readonly string[]): Promise<CommandProgram>;
  /** The command line that holds a conversation with a script. */
  chat(steps: readonly object[]): Promise<CommandProgram>;
  /** The folder, for other commands. */
  readonly folder: CliFolder;
}

/** Makes the folder before the tests of a file. */
export function useAgentFolder(): AgentFolder {
  let made: CliFolder | undefined;
  let count = 0;
  const folder = (): CliFolder => {
    if (!made) throw new Error('the folder is made before the first test');
    return made;
  };
  beforeAll(async () => {
    made = await CliFolder.make();
    await writeFile(join(made.path, 'perdure.config.mjs'), CONFIG);
    await writeFile(join(made.path, 'notes.txt'), 'one\ntwo\nthree\n');
    await made.start(['dev']).saw(/Ctrl-C/u);
  });
  afterAll(async () => {
    await made?.remove();
  });
  return {
    get folder() {
      return folder();
    },
    run: (steps, ...options) => program(steps, (script, id) => ['run', 'Go.', '--model', script, '--id', id, ...options]),
    chat: (steps) => program(steps, (script, id) => ['chat', '--session', id, '--model', script]),
  };

  async function program(steps: readonly object[], args: (script: string, id: string) => string[]): Promise<CommandProgram> {
    count += 1;
    const script = `script-${count}.json`;
    await writeFile(join(folder().path, script), JSON.stringify({ steps }));
    const { env, ...started } = folder().program(args(`scripted/${script}`, `run-${count}`));
    // what these tests show depends on the terminal alone
    const { NO_COLOR: _no, FORCE_COLOR: _force, TMUX: _tmux, ...others } = env;
    return { ...started, env: others };
  }
}
