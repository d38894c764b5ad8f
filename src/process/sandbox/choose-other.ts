import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { SANDBOX_LIMITS } from '../../contracts/constants/limits.js';
import { findShell, SYSTEM_PATH } from '../command-sandbox.js';
import { type ContainerEngine, containerSandbox } from './container.js';
import { probeSandbox } from './probe-sandbox.js';
import type { Sandbox } from './sandbox.js';
import { seatbeltSandbox } from './seatbelt.js';

/** A sandbox that works here, or why there is none. */
export type Chosen = { readonly sandbox: Sandbox; readonly problem?: never } | { readonly sandbox?: never; readonly problem: string };

/** Where engines are: the folders of the system, and those of their installers on macOS. Never the worker's own `PATH`. */
const ENGINE_PATH = `${SYSTEM_PATH}:/opt/podman/bin:/opt/homebrew/bin`;

const ENGINES = ['podman', 'docker'] as const;

/** Three lines: two of the table's head, and the loopback. Read by the shell, because an image may have no other program. */
const OWN_NETWORK = 'n=0; while read -r _; do n=$((n + 1)); done < /proc/net/dev; [ "$n" = 3 ]';

const containers = new Map<string, Promise<Chosen>>();
let seatbelt: Promise<Chosen> | undefined;

/** The sandbox of containers of an image. Tried once per process with a real container. Never rejects. */
export function container(image: string): Promise<Chosen> {
  const found = containers.get(image) ?? chooseContainer(image, findEngine(ENGINE_PATH));
  containers.set(image, found);
  return found;
}

/** Podman, else docker, in a list of folders. */
export function findEngine(path: string): ContainerEngine | undefined {
  const places = ENGINES.flatMap((name) => path.split(':').map((folder) => ({ name, program: join(folder, name) })));
  return places.find(({ program }) => isProgram(program));
}

/** Tries the claims with a container: the folder is that of this machine, the system is read-only, the network and the processes are its own. */
export async function chooseContainer(image: string, engine: ContainerEngine | undefined): Promise<Chosen> {
  if (!engine) return { problem: 'mode container needs podman or docker in a folder of the system' };
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  const user = uid === undefined || gid === undefined ? undefined : { uid, gid };
  const sandbox = containerSandbox({ engine, image, user });
  const claims = ['! touch /perdure-probe', '! touch hidden/x', '[ ! -e hidden/inside ]', OWN_NETWORK, ': > /tmp/perdure-probe'];
  const problem = await probeSandbox(sandbox, { claims, timeoutMs: SANDBOX_LIMITS.removeTimeoutMs });
  return problem === undefined ? { sandbox } : { problem: `${engine.name} does not run a container of ${image}: ${problem}` };
}

/** The sandbox of macOS. Tried once per process with a real command. Never rejects. */
export function macSandbox(): Promise<Chosen> {
  seatbelt ??= chooseSeatbelt();
  return seatbelt;
}

async function chooseSeatbelt(): Promise<Chosen> {
  if (process.platform !== 'darwin') return { problem: 'mode seatbelt is for macOS' };
  const sandbox = seatbeltSandbox({ shell: await findShell() });
  const claims = ['! touch /private/tmp/perdure-probe', '! touch hidden/x', '! ls hidden', ': > "$TMPDIR/x"'];
  const problem = await probeSandbox(sandbox, { claims, timeoutMs: SANDBOX_LIMITS.probeTimeoutMs });
  return problem === undefined ? { sandbox } : { problem: `sandbox-exec does not work here: ${problem}` };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // not there
    return false;
  }
}
