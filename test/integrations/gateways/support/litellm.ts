import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../support/free-port.js';
import { answersAt, endProcess, namedProgram } from '../../../support/local-process.js';
import { until } from '../../../support/use-workers.js';

/** LiteLLM's proxy on loopback: one address with all three wire formats, and a server behind it for each model. */
export interface LiteLlm {
  readonly url: string;
  readonly apiKey: string;
  stop(): Promise<void>;
}

/** A model of the proxy: how LiteLLM names the server behind it, with its address and key. */
export interface LiteLlmModel {
  readonly name: string;
  /** `openai/…` speaks chat completions, or Responses to a request that came as such; `anthropic/…` messages. */
  readonly upstream: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Requests of other formats are made chat completions. */
  readonly overChat?: boolean;
}

/** Servers whose answers are passed on as they are: OpenAI's formats below `/openai_passthrough`, Anthropic's below `/anthropic`. */
export type PassedThrough = Readonly<Record<'openai' | 'anthropic', Pick<LiteLlmModel, 'baseUrl' | 'apiKey'>>>;

/** It loads for half a minute of processor time, and others start beside it. */
const START_MS_MAX = 240_000;

const INSTALL = "python3 -m venv DIR && DIR/bin/pip install 'litellm[proxy]==1.106.2'";

/** Starts it in a folder of its own; the process and the folder are gone after `stop`. It takes ten seconds to listen on a quiet machine. */
export async function startLiteLlm(models: readonly LiteLlmModel[], passedThrough?: PassedThrough): Promise<LiteLlm> {
  const program = namedProgram('PERDURE_TEST_LITELLM', 'litellm', INSTALL);
  const folder = await mkdtemp(join(tmpdir(), 'perdure-litellm-'));
  const apiKey = `sk-${randomBytes(16).toString('hex')}`;
  const config = join(folder, 'config.json');
  await writeFile(config, JSON.stringify(configOf(models, apiKey)));
  const port = await freePort();
  const args = ['--config', config, '--host', '127.0.0.1', '--port', String(port), '--telemetry', 'False'];
  // without the local map it asks the network for a newer one
  const own = { PATH: process.env['PATH'], HOME: folder, LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_LOG: 'CRITICAL' };
  const env = { ...own, ...(passedThrough ? variablesOf(passedThrough) : {}) };
  const proxy = spawn(program, args, { env, cwd: folder, stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    await endProcess(proxy);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await until(() => answersAt(`${url}/health/liveliness`, proxy), 'LiteLLM', START_MS_MAX);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, apiKey, stop };
}

function variablesOf({ openai, anthropic }: PassedThrough): Readonly<Record<string, string>> {
  return {
    OPENAI_API_BASE: openai.baseUrl,
    OPENAI_API_KEY: openai.apiKey,
    ANTHROPIC_API_BASE: anthropic.baseUrl,
    ANTHROPIC_API_KEY: anthropic.apiKey,
  };
}

/** A gateway that tries again by itself, or leaves a server alone for a while, hides what came of each attempt. */
function configOf(models: readonly LiteLlmModel[], apiKey: string): object {
  return {
    model_list: models.map(({ name, upstream, baseUrl, apiKey: key, overChat = false }) => ({
      model_name: name,
      litellm_params: { model: upstream, api_base: baseUrl, api_key: key, max_retries: 0, use_chat_completions_api: overChat },
    })),
    // else it asks OpenAI's models for Responses
    litellm_settings: { num_retries: 0, use_chat_completions_url_for_anthropic_messages: true },
    router_settings: { num_retries: 0, disable_cooldowns: true },
    general_settings: { master_key: apiKey },
  };
}
