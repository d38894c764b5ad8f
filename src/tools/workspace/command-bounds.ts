import { randomInt } from 'node:crypto';
import type { SandboxDefinition } from '../../define/worker/sandbox.js';
import type { ProcessOrder } from '../../process/process-tree.js';
import { openControlGroup } from '../../process/sandbox/control-group.js';
import { startFilterProxy } from '../../process/sandbox/filter-proxy.js';
import { type CommandLimits, commandLimits, type LimitName } from '../../process/sandbox/limits.js';
import { openSandbox } from '../../process/sandbox/open-sandbox.js';
import type { CommandNetwork, Sandbox } from '../../process/sandbox/sandbox.js';
import { inNetwork, type NetworkSharing } from '../../process/sandbox/shared-network.js';
import { commandView } from './command-view.js';
import type { Jail } from './jail.js';
import { type GuardedCall, guardCall, type ProtectedPaths, type ProtectedState, UNGUARDED } from './protected-paths.js';

/** What the owner of the worker decides about commands. */
export interface BoundsOptions {
  readonly sandbox: SandboxDefinition;
  /** What only the owner of the project changes. */
  readonly protected: ProtectedPaths;
  /** Real paths beside the workspace that commands can change. */
  readonly writable: readonly string[];
  /**
   * What the protected files were when the oldest live command of a workspace began: what it made is not taken for the owner's.
   * @default no other commands
   */
  readonly before?: ((root: string) => Promise<ProtectedState | undefined>) | undefined;
  /** The network of the run, where its commands share one. @default a network of the command's own */
  readonly sharing?: NetworkSharing | undefined;
  /** The guard of protected files, for a command that lives long. @default one for a short command */
  readonly guard?: (() => Promise<GuardedCall>) | undefined;
}

/** What a command did that its bounds stopped. */
export interface BoundsReport {
  /** The limits that its control group counted. */
  readonly reached: readonly LimitName[];
  /** Protected files that it made or replaced, and that were renamed. */
  readonly refused: readonly string[];
}

/** The bounds of one command: its sandbox, its network, its control group, and the guard of protected files. */
export interface CommandBounds {
  /** Undefined in mode `none`, which limits nothing. */
  readonly limits: CommandLimits | undefined;
  /** The kind of its sandbox. */
  readonly kind: Sandbox['kind'];
  order(command: string, options?: { readonly isServer?: boolean }): Promise<ProcessOrder>;
  /** Called once, when the command has ended. */
  close(): Promise<BoundsReport>;
}

/** Opens the bounds of a command. Throws `SANDBOX` where the sandbox of the config cannot be made; then it leaves nothing open. */
export async function openBounds(jail: Jail, options: BoundsOptions): Promise<CommandBounds> {
  const { mode, network, limits: given } = options.sandbox;
  const sandbox = await openSandbox(options.sandbox);
  const limits = mode === 'none' ? undefined : commandLimits(given);
  const { sharing } = options;
  const way = await openNetwork(network, sharing !== undefined);
  // the client of a container is not what has to be limited
  const group = limits && mode !== 'container' ? await openControlGroup(limits) : undefined;
  const guarded = await guardOr(guard(jail, options, limits !== undefined), [way, group]);
  return {
    limits,
    kind: sandbox.kind,
    order: async (command, { isServer = false } = {}) => {
      const rights = { writable: options.writable, protected: guarded.before, coversRepository: options.guard !== undefined };
      const view = await commandView(jail, rights, way.network);
      const order = sandbox.order(command, { ...view, ...(limits && { limits }), isGrouped: group !== undefined, isServer });
      const argv = sharing ? inNetwork(order.argv, sharing) : order.argv;
      return { ...order, argv: group?.enter(argv) ?? argv };
    },
    close: async () => {
      const [, reached = [], refused] = await Promise.all([way.close(), group?.close(), guarded.finish()]);
      return { reached, refused };
    },
  };
}

/** The guard of a command. Without a sandbox, it could be evaded. */
async function guard(jail: Jail, options: BoundsOptions, isLimited: boolean): Promise<GuardedCall> {
  if (!isLimited) return UNGUARDED;
  return options.guard ? await options.guard() : await guardCall(jail, options.protected, options.before?.(jail.root));
}

/** The guard of a call. If it cannot be had, what was opened for the call is closed. */
async function guardOr(
  guarding: Promise<GuardedCall>,
  opened: readonly ({ readonly close: () => Promise<unknown> } | undefined)[],
): Promise<GuardedCall> {
  try {
    return await guarding;
  } catch (error) {
    await Promise.all(opened.map(async (each) => await each?.close()));
    throw error;
  }
}

/** The network of one command, and what ends with it. */
async function openNetwork(
  network: SandboxDefinition['network'] = 'none',
  isShared: boolean,
): Promise<{ readonly network: CommandNetwork; close(): Promise<void> }> {
  if (network === 'host') return { network: { kind: 'host' }, close: () => Promise.resolve() };
  if (network === 'none') return { network: { kind: 'none', isShared }, close: () => Promise.resolve() };
  const proxy = await startFilterProxy(network.allow);
  // in a shared network, each command needs a port of its own for its way to the proxy
  const port = isShared ? { port: randomInt(...SHARED_PORTS) } : {};
  return { network: { kind: 'proxy', socket: proxy.socket, isShared, ...port }, close: () => proxy.close() };
}

/** Ports that neither servers nor the kernel choose by default. */
const SHARED_PORTS = [20_000, 30_000] as const;
