// Runs an agent of another framework: node start.mjs langchain|crewai [PYTHON] [OPTIONS OF perdure run]
// Without OPENAI_API_KEY, a local chat completions server plays the model from model.yaml.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readScript, startWireServer } from 'perdure/testing';

const here = fileURLToPath(new URL('.', import.meta.url));
const perdure = fileURLToPath(new URL('../../bin/perdure', import.meta.url));
const [agent = 'langchain', python = `${here}.venv/bin/python`, ...options] = process.argv.slice(2);

if (!existsSync(python)) {
  console.error(`no Python at ${python}; install it with: python3 -m venv .venv && .venv/bin/pip install -r requirements-${agent}.txt`);
  process.exit(2);
}

const model = process.env.OPENAI_API_KEY ? undefined : await startWireServer({ script: await readScript(`${here}model.yaml`) });
const env = { ...process.env, EXECUTORS_PYTHON: python };
if (model) {
  Object.assign(env, { OPENAI_API_KEY: model.apiKey, OPENAI_BASE_URL: model.openaiBaseUrl, OPENAI_MODEL: 'played' });
  console.error('no OPENAI_API_KEY: a local server plays the model from model.yaml');
}

const command = ['run', 'When is high tide in Husum and in Emden? Ring the bell of Husum then.', '--agent', agent, ...options];
console.error(`in examples/executors: perdure ${command.join(' ')}`);
const run = spawn(process.execPath, [perdure, ...command], { cwd: here, env, stdio: 'inherit' });
// the perdure command handles Ctrl-C: it detaches from the run and exits
process.on('SIGINT', () => undefined);
const [code, signal] = await once(run, 'exit');
await model?.close();
process.exitCode = code ?? (signal === null ? 1 : 128);
