/** Variables a command may see. All else stays with the worker: provider keys above all. */
const ALLOWED: ReadonlySet<string> = new Set(['PATH', 'HOME', 'LANG', 'TMPDIR', 'TERM', 'TZ']);

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The environment of a command: an allowlist of the worker's own (PATH, HOME, LANG, LC_*, TMPDIR, TERM, TZ), and nothing else. */
export function commandEnvironment(own: NodeJS.ProcessEnv): Record<string, string> {
  const allowed = Object.entries(own).flatMap(([name, value]) =>
    value !== undefined && (ALLOWED.has(name) || name.startsWith('LC_')) ? [[name, value] as const] : [],
  );
  return { PATH: DEFAULT_PATH, ...Object.fromEntries(allowed) };
}
