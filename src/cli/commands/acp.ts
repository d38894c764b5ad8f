import { checkSessionInput } from '../../client/sessions/session-input.js';
import { ownStdout, say } from '../display/output.js';
import type { CliContext } from '../host/context.js';
import { openAcpDoor } from '../host/doors/acp-door.js';
import { serveWhileOpening } from '../host/doors/serve-while-opening.js';
import { loadConfigHere } from '../host/load-config.js';
import { type SessionStartOptions, sessionFromOptions } from '../host/session-options.js';
import { loadOptional, type OptionalPackage } from '../options/load-optional.js';

/** The options of `acp`. The workspace is the folder of the editor. */
export interface AcpOptions extends Omit<SessionStartOptions, 'session' | 'workspace'> {
  /** False with `--no-worker`. */
  readonly worker: boolean;
}

/**
 * `acp`: serves an editor over stdin and stdout in the Agent Client Protocol, until the input ends. Hosts a worker as `run` does. An editor
 * is answered at once; its prompts wait for the Temporal server and the worker.
 */
export async function acp({ worker, iKnow = false, ...options }: AcpOptions, context: CliContext, version: string): Promise<number> {
  const { serveAcp } = await loadOptional(SDK, () => import('../../gateway/acp/serve-acp.js'));
  const session = await sessionFromOptions(options);
  checkSessionInput('editor', session);
  // loading removes the keys, which the process in the background needs
  const env = { ...process.env };
  const config = await loadConfigHere();
  const { output } = context;
  await serveWhileOpening({ options: { ...options, worker }, config, env, context }, async ({ opening, ready, signal }) => {
    const door = openAcpDoor({ version, config, session, iKnow, hasWorker: worker, opening, ready });
    await serveAcp({ door, stdin: process.stdin, stdout: ownStdout(output), signal, say: (line) => say(output, line) });
  });
  return 0;
}

const SDK: OptionalPackage = { command: 'perdure acp', name: '@agentclientprotocol/sdk', code: 'ACP_SDK' };
