import type { ProcessOrder } from '../process-tree.js';
import type { CommandLimits } from './limits.js';

/** What a command reaches of the network: nothing, what the proxy behind a socket allows, or all that this host reaches. */
export type CommandNetwork = { readonly kind: 'none'; readonly isShared?: boolean } | ProxiedNetwork | { readonly kind: 'host' };

/** A network with a proxy. */
interface ProxiedNetwork {
  readonly kind: 'proxy';
  /** Absolute path of the proxy's unix socket. */
  readonly socket: string;
  /** Where the command finds the proxy on its loopback. @default BRIDGE_PORT */
  readonly port?: number;
  /** True if the command starts in the network namespace of its run: it gets none of its own. @default false */
  readonly isShared?: boolean;
}

/** True for a command with a network namespace of its own. */
export function hasOwnNetwork(network: CommandNetwork): boolean {
  return network.kind !== 'host' && network.isShared !== true;
}

/** A file or a folder that a command sees empty, and cannot write. */
export interface HiddenPath {
  readonly path: string;
  readonly isFolder: boolean;
}

/** What a command sees of this machine. All paths are absolute, and real: no part of them is a link. */
export interface CommandView {
  /** The working folder. */
  readonly folder: string;
  /** Existing files and folders that the command may change. The rest of the system is read-only, `/tmp` and `/run` are its own. */
  readonly writable: readonly string[];
  /** Existing folders in `/tmp` or `/run` of the machine that it sees nevertheless, read-only. A writable folder in them stays writable. */
  readonly shown: readonly string[];
  /** Existing files and folders in writable ones that it can only read. */
  readonly readOnly: readonly string[];
  /** Existing files and folders that it sees empty. */
  readonly hidden: readonly HiddenPath[];
  readonly network: CommandNetwork;
  /** Without them, those of the worker. */
  readonly limits?: CommandLimits;
  /** True if a control group holds the memory of the command. */
  readonly isGrouped?: boolean;
  /** True for a server, which reads its input and has an error output of its own. Without it, the output has both. */
  readonly isServer?: boolean;
}

/** A way to run commands apart from the rest of the machine. */
export interface Sandbox {
  readonly kind: 'bubblewrap' | 'unshare' | 'container' | 'seatbelt' | 'process-tree';
  readonly shell: 'bash' | 'sh';
  order(command: string, view: CommandView): ProcessOrder;
}

/** The capabilities that a command of root keeps: those for files and processes of its own. Commands of other users have none. */
export const CAPABILITIES = ['chown', 'dac_override', 'fowner', 'fsetid', 'kill', 'setuid', 'setgid'] as const;

/** What root could change of the kernel in `/proc`. Read-only for commands. */
export const KERNEL_SETTINGS = ['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'acpi', 'scsi', 'asound'] as const;

/** Closes what the worker inherited from the program that started it: a command could write to it. `sh` knows descriptors up to 9 only. */
export const CLOSE_DESCRIPTORS = {
  bash: 'for open in /proc/self/fd/*; do open=${open##*/}; [ "$open" -gt 2 ] && eval "exec $open>&-"; done',
  sh: 'exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-',
} as const;
