import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const WITHOUT_CAPABILITIES = 'setpriv --bounding-set=-all --inh-caps=-all --ambient-caps=-all';

/** Runs a Node program without capabilities, in a user namespace of its own. `before`: a shell command that prepares it. */
export async function runUnprivileged(options: string, before: string, script: string, ...args: readonly string[]): Promise<string> {
  const shell = `${before} exec ${WITHOUT_CAPABILITIES} "$@"`;
  const node = [process.execPath, '--input-type=module', '-e', script, ...args];
  const { stdout } = await promisify(execFile)('unshare', ['--user', ...options.split(' '), 'sh', '-c', shell, 'sh', ...node]);
  return stdout;
}

/** Runs a Node program as on a machine whose kernel makes no namespaces. */
export async function runWithoutNamespaces(script: string): Promise<string> {
  return await runUnprivileged('--map-root-user', 'echo 0 > /proc/sys/user/max_user_namespaces &&', script);
}
