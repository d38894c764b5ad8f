import { type CommandSandbox, commandEnvironment, commandSandbox } from '../command-sandbox.js';
import { namespaces } from './choose-sandbox.js';
import type { Sandbox } from './sandbox.js';

/** The code of commands that are refused, because their sandbox cannot be made here. */
const REFUSED = 'SANDBOX';

/** What is wrong with a machine without a sandbox, and what to do. */
export const NO_SANDBOX =
  'this worker cannot make the sandbox of commands: it needs Linux with bubblewrap or util-linux (unshare, setpriv), and the right to make namespaces';
export const NO_SANDBOX_ADVICE =
  "install bubblewrap, allow user namespaces, or run commands without a sandbox with sandbox: { mode: 'none' } in the config";

/** What a config without a sandbox, or with the network of the host, means. Said at the start of a worker, and by `doctor`. */
export const NO_LIMITS = 'commands run without a sandbox: they can do all that the user of this worker can';
export const NO_NETWORK_LIMITS = 'commands can reach the Temporal server and every local port';

/**
 * The sandbox of a mode. A weaker one never replaces it: throws `SANDBOX` where it cannot be made. In mode `none`, a command is only kept
 * together: all its processes end with it.
 */
export async function openSandbox(mode: 'namespaces' | 'none'): Promise<Sandbox> {
  if (mode === 'none') return treeSandbox(await commandSandbox());
  const sandbox = await namespaces();
  if (!sandbox) throw new Error(`${REFUSED}: ${NO_SANDBOX}. Its owner can ${NO_SANDBOX_ADVICE}.`);
  return sandbox;
}

/** Only keeps the processes of a command together; hides folders where it can. */
export function treeSandbox({ kind, shell, argv: [program = 'sh', ...args] }: CommandSandbox): Sandbox {
  return {
    kind: 'process-tree',
    shell,
    order: (command, { hidden }) => {
      const folders = hidden.filter(({ isFolder }) => isFolder).map(({ path }) => path);
      return {
        argv: [program, ...args, command, ...(kind === 'namespace' ? folders : [])],
        environment: commandEnvironment(process.env),
        isWatched: kind === 'process-group',
      };
    },
  };
}
