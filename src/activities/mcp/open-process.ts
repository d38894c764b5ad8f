import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { McpProcess } from '../../define/worker/mcp-servers.js';
import type { SandboxDefinition } from '../../define/worker/sandbox.js';
import { ServerProcess, serverCommand } from '../../process/server-process.js';
import type { KeyRing } from '../../providers/contract/access-options.js';
import { openBounds } from '../../tools/workspace/command-bounds.js';
import { writablePaths } from '../../tools/workspace/command-view.js';
import { openJail } from '../../tools/workspace/jail.js';
import type { ProtectedPaths } from '../../tools/workspace/protected-paths.js';
import { ProcessTransport } from './process-transport.js';
import { resolvedValues } from './server-access.js';

/** What a server that is a process runs in. */
export interface McpSurroundings {
  readonly keys: KeyRing;
  /** The sandbox of servers without one. */
  readonly sandbox: SandboxDefinition;
  readonly protected: ProtectedPaths;
}

/**
 * Starts a server in its sandbox, in the workspace, in its `cwd`, or in an empty folder that ends with it. Throws an Error for a reference
 * without a value, a folder that is missing, and `SANDBOX` where the sandbox cannot be made.
 */
export async function openProcess(
  { command, args = [], env = {}, cwd, sandbox: own }: McpProcess,
  workspace: string | undefined,
  surroundings: McpSurroundings,
): Promise<ProcessTransport> {
  const variables = resolvedValues(env, surroundings.keys);
  const sandbox = own ?? surroundings.sandbox;
  const temporary = (workspace ?? cwd) ? undefined : await mkdtemp(join(tmpdir(), 'perdure-mcp-'));
  const forget = async (): Promise<void> => {
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
  };
  try {
    const jail = await openJail(workspace ?? cwd ?? temporary);
    const writable = await writablePaths(sandbox.writable ?? []);
    const bounds = await openBounds(jail, { sandbox, protected: surroundings.protected, writable });
    try {
      const order = await bounds.order(serverCommand([command, ...args], bounds.kind === 'process-tree', variables), { isServer: true });
      const server = await ServerProcess.start({ order, folder: jail.root, variables });
      return new ProcessTransport(server, cleanUp(server, [() => bounds.close(), forget]));
    } catch (error) {
      await bounds.close();
      throw error;
    }
  } catch (error) {
    await forget();
    throw error;
  }
}

/** Removes what a server ran in, once it ended. Never rejects. */
async function cleanUp(server: ServerProcess, steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  await server.ended;
  // what cannot be removed stays: the error must not end the worker
  for (const step of steps) await step().catch(() => undefined);
}
