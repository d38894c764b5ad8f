/** What the system, Node and libraries read before the first line of a program runs, and names that say how a program prints. */
const NAMES: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'TMP',
  'TEMP',
  'TERM',
  'USER',
  'LOGNAME',
  'SHELL',
  'PWD',
  'NO_COLOR',
  'FORCE_COLOR',
]);
const PREFIXES = ['LC_', 'NODE_', 'LD_', 'DYLD_', 'SSL_CERT_', 'OPENSSL_', 'UV_', 'MALLOC_', 'GLIBC_', 'XDG_', 'PERDURE_'] as const;

/** Parts of names of variables that may hold a secret, such as `NODE_AUTH_TOKEN`. */
const SECRET = /KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH/iu;

/** True for a variable that a process must have when it starts, and that holds no secret. All others can follow over a descriptor. */
export function isStartVariable(name: string): boolean {
  return (NAMES.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix))) && !SECRET.test(name);
}

/** Read by Node at its start with `NODE_USE_ENV_PROXY`. They may hold a password. */
const PROXY = /^(?:https?|no|all)_proxy$/iu;

/** True for a variable that a process cannot be started without. Those that may hold a secret can be erased once it runs. */
export function isReadAtStart(name: string): boolean {
  return isStartVariable(name) || PROXY.test(name);
}
