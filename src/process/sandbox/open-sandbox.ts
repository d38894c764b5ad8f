import { type CommandSandbox, commandEnvironment, commandSandbox } from '../command-sandbox.js';
import { type Chosen, container, macSandbox } from './choose-other.js';
import { namespaces } from './choose-sandbox.js';
import type { Sandbox } from './sandbox.js';

/** The code of commands that are refused, because their sandbox cannot be made here. */
const REFUSED = 'SANDBOX';

/** What is wrong with a machine without a sandbox, and what to do. */
const NO_SANDBOX =
  'this worker cannot make the sandbox of commands: it needs Linux with bubblewrap or util-linux (unshare, setpriv), and the right to make namespaces';
export const NO_SANDBOX_ADVICE =
  "install bubblewrap, allow user namespaces, name a container with sandbox: { mode: 'container', image }, or run commands without a sandbox with sandbox: { mode: 'none' } in the config";

/** What a config without a sandbox, or with the network of the host, means. Said at the start of a worker, and by `doctor`. */
export const NO_LIMITS = 'commands run without a sandbox: they can do all that the user of this worker can';
export const NO_NETWORK_LIMITS = 'commands can reach the Temporal server and every local port';

/** What a config says of the kind of sandbox. */
export interface SandboxChoice {
  readonly mode?: 'namespaces' | 'container' | 'seatbelt' | 'none' | undefined;
  /** For mode `container`. */
  readonly image?: string | undefined;
}

/**
 * The sandbox of a mode. A weaker one never replaces it: throws `SANDBOX` where it cannot be made. In mode `none`, a command is only kept
 * together: all its processes end with it.
 */
export async function openSandbox(choice: SandboxChoice): Promise<Sandbox> {
  const { sandbox, problem } = await chooseSandbox(choice);
  if (!sandbox) throw new Error(`${REFUSED}: ${problem}. Its owner can ${NO_SANDBOX_ADVICE}.`);
  return sandbox;
}

/** The sandbox of a mode, or why this machine has none. Never rejects. */
export async function chooseSandbox({ mode = 'namespaces', image = '' }: SandboxChoice): Promise<Chosen> {
  switch (mode) {
    case 'none':
      return { sandbox: treeSandbox(await commandSandbox()) };
    case 'container':
      return await container(image);
    case 'seatbelt':
      return await macSandbox();
    case 'namespaces': {
      const sandbox = await namespaces();
      return sandbox ? { sandbox } : { problem: NO_SANDBOX };
    }
  }
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
