import { z } from 'zod';
import { SANDBOX_LIMITS } from '../../contracts/constants/limits.js';

/** A host that commands may reach: `api.example.com`, `*.example.com`, `10.0.0.5` or `[fd00::5]`, with or without `:port`. */
const Host = z
  .string()
  .max(SANDBOX_LIMITS.hostCharsMax)
  .regex(
    /^(?:(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?$/iu,
    'is no host: write api.example.com, *.example.com, 10.0.0.5 or [fd00::5], with :port unless it is 80 or 443',
  );

const Folder = z.string().regex(/^(?:\/|~\/)./u, 'is no absolute path: begin with / or ~/, and name more than the root');

/** An option of the engine would begin with `-`. */
const IMAGE = /^[a-z0-9][a-z0-9._/:@-]*$/iu;

const atLeast = (lowest: number) => z.number().int().min(lowest);

/** What one command may use of the machine. Linux only. Memory and processes need a control group where the worker is root. */
const CommandLimits = z.strictObject({
  /** Processes and threads. @default 1,024 */
  processes: atLeast(16).optional(),
  /** Memory of all processes in bytes, with the files in `/tmp`; of each process where the worker can make no control group. @default 4 GiB */
  memoryBytes: atLeast(32 * 1_024 * 1_024).optional(),
  /** CPU time of each process in milliseconds. @default 1 h */
  cpuMs: atLeast(1_000).optional(),
  /** Size of each file in bytes. @default 4 GiB */
  fileBytes: atLeast(1_024 * 1_024).optional(),
  /** Open files of each process. @default 4,096 */
  openFiles: atLeast(64).optional(),
});

/**
 * What commands of `run_command` may reach. In a sandbox, a command sees no other process, can write only to the workspace, its own `/tmp`
 * and `writable`, and sees neither the state folder, the config, the agent files, git hooks nor credentials of the home folder.
 */
export const SandboxDefinition = z
  .strictObject({
    /**
     * `namespaces`: namespaces of Linux, with `bwrap` where it is installed, else with `unshare`. `container`: a container of `image` for each
     * command, by podman or docker. `seatbelt`: `sandbox-exec` of macOS. `none`: no sandbox; a command can do what the worker's user can.
     * If the machine does not support the configured mode, the worker does not start. If no mode is configured and namespaces do not work, the calls are refused. @default namespaces
     */
    mode: z.enum(['namespaces', 'container', 'seatbelt', 'none']).optional(),
    /** The image of mode `container`, which the engine must have. It needs `sh`, and `node` or `socat` for `network.allow`. */
    image: z.string().regex(IMAGE, 'is no name of an image').max(SANDBOX_LIMITS.imageCharsMax).optional(),
    /**
     * `none`: only a loopback interface of the command's own. `{ allow }`: only these hosts, by HTTP and HTTPS through a proxy; the command
     * finds it in `HTTP_PROXY` and `HTTPS_PROXY`. `host`: all that this machine reaches, with the Temporal server and every local port.
     * @default none
     */
    network: z.union([z.enum(['none', 'host']), z.strictObject({ allow: z.array(Host).min(1).max(SANDBOX_LIMITS.hostsMax) })]).optional(),
    /** Files and folders beside the workspace that commands can change, such as `~/.npm`. Missing ones are ignored. @default none */
    writable: z.array(Folder).max(SANDBOX_LIMITS.writableMax).optional(),
    /** What one command may use of the machine: `{ processes, memoryBytes, cpuMs, fileBytes, openFiles }`. */
    limits: CommandLimits.optional(),
  })
  .refine(({ mode, image }) => (mode === 'container') === (image !== undefined), {
    message: "mode 'container' needs an image, and no other mode has one",
    path: ['image'],
  });
export type SandboxDefinition = z.infer<typeof SandboxDefinition>;
