import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { CONTENT_LIMITS } from '../../contracts/constants/limits.js';
import { eraseInitialValues } from '../../process/initial-environment.js';
import type { KeyRing } from '../contract/access-options.js';
import { HeldKeys } from './held-keys.js';
import { KNOWN_PROVIDERS } from './provider-catalog.js';

/** Keys for any provider that has none of its own, and what Anthropic's own tools read. */
const GENERAL_KEYS = ['LLM_API_KEY', 'ANTHROPIC_AUTH_TOKEN'];

/** The variables that hold keys of providers which need no config. Keys of other services stay: tools of the config may need them. */
const PROVIDER_KEYS: ReadonlySet<string> = new Set([
  ...GENERAL_KEYS,
  ...Object.values(KNOWN_PROVIDERS).flatMap(({ keyVariable }) => keyVariable ?? []),
]);

/** What an HTTP header can carry. With any other character the HTTP client throws, and its message holds the key. */
const HEADER_VALUE = /^[\u0021-\u007e]+$/u;

/** What was taken out of an environment before: whoever loads a config again in the same process still has its keys. */
const captured = new WeakMap<NodeJS.ProcessEnv, Map<string, string>>();

/**
 * Takes the provider keys out of an environment, so that no child process can inherit them: values are remembered, the variables deleted,
 * also from what `/proc/PID/environ` shows where the system allows it. Further keys of a provider are numbered: `OPENAI_API_KEY_2`. White
 * space around a value is trimmed. `extra` are the references that a config has, to variables and files.
 */
export function captureKeys(env: NodeJS.ProcessEnv, extra: readonly string[] = []): KeyRing {
  const remembered = captured.get(env) ?? new Map<string, string>();
  captured.set(env, remembered);
  const files = extra.flatMap((reference) => pathIn(reference) ?? []);
  const named = new Set(extra.map(nameOf));
  const isKey = (name: string): boolean => PROVIDER_KEYS.has(name.replace(/_\d+$/u, '')) || named.has(name);
  const taken = new Set<string>();
  for (const [name, value] of Object.entries(env)) {
    if (!isKey(name)) continue;
    taken.add(name);
    remembered.set(name, (value ?? '').trim());
    delete env[name];
  }
  // in /proc/PID/environ they would still be
  if (env === process.env && taken.size > 0) eraseInitialValues((name) => taken.has(name));
  const held = new HeldKeys();
  // also those that this config does not name: the process still has them
  for (const [name, value] of remembered) held.add(`env:${name}`, value);
  return ringOf(new Map([...remembered].filter(([name, value]) => isKey(name) && value !== '')), { files: [...new Set(files)], held });
}

function ringOf(
  keys: ReadonlyMap<string, string>,
  { files, held }: { readonly files: readonly string[]; readonly held: HeldKeys },
): KeyRing {
  const read = (path: string): ReturnType<typeof readSecretFile> => {
    const found = readSecretFile(path);
    if ('value' in found) held.add(`file:${path}`, found.value);
    return found;
  };
  let readAt = Number.NEGATIVE_INFINITY;
  const look = (reference: string): { readonly value: string } | { readonly problem: string } => {
    const path = pathIn(reference);
    if (path === undefined) return checked(keys.get(nameOf(reference)), `env:${nameOf(reference)}`);
    // only what the config names is opened
    const found = files.includes(path) ? read(path) : { problem: `SECRET_MISSING ${reference}` };
    return 'value' in found ? checked(found.value, reference) : found;
  };
  const isUsable = (reference: string): boolean => 'value' in look(reference);
  return {
    resolve(reference) {
      const found = look(reference);
      return 'value' in found ? found.value : undefined;
    },
    problem(reference) {
      const found = look(reference);
      return 'problem' in found ? found.problem : undefined;
    },
    names: () => [...keys.keys(), ...files.map((path) => `file:${path}`)].filter(isUsable),
    held() {
      if (files.length > 0 && Date.now() - readAt >= CONTENT_LIMITS.secretRereadMs) {
        readAt = Date.now();
        for (const path of files) read(path);
      }
      return held.all;
    },
  };
}

function checked(value: string | undefined, reference: string): { readonly value: string } | { readonly problem: string } {
  if (value === undefined) return { problem: `SECRET_MISSING ${reference}` };
  if (HEADER_VALUE.test(value)) return { value };
  return { problem: `SECRET_BAD ${reference}: it contains a character that is not allowed in a request header, such as a line break` };
}

function nameOf(reference: string): string {
  return reference.replace(/^env:/u, '');
}

function pathIn(reference: string): string | undefined {
  return reference.startsWith('file:') ? reference.slice('file:'.length) : undefined;
}

/** No key is longer; a log file that was named by mistake is. */
const BYTES_MAX = 64 * 1_024;

/** Bits of a mode that let others than the owner read or change a file. The group may read it: secrets in Kubernetes have mode 0440. */
const OTHERS = 0o037;
const GROUP_READS = 0o040;

/**
 * The secret that a file holds, without the line break at its end; or why it gives none: `SECRET_MISSING`, `SECRET_FILE_MODE` when others
 * than its owner and its group may open it, `SECRET_BAD`. Read anew each time, so that a key that was rotated is taken without a restart. Never throws.
 */
function readSecretFile(path: string): { readonly value: string } | { readonly problem: string } {
  try {
    // a pipe would be waited for until somebody writes to it
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return readOpen(file, path);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    return { problem: code === 'ENOENT' ? `SECRET_MISSING file:${path}` : `SECRET_BAD file:${path}: it cannot be read (${code})` };
  }
}

function readOpen(file: number, path: string): { readonly value: string } | { readonly problem: string } {
  const found = fstatSync(file);
  const { mode, size, uid } = found;
  if (!found.isFile()) return { problem: `SECRET_BAD file:${path}: it is not a file` };
  // Windows has no such bits
  const isOurs = uid === 0 || uid === process.getuid?.();
  if (process.platform !== 'win32' && ((mode & OTHERS) !== 0 || ((mode & GROUP_READS) !== 0 && !isOurs))) {
    const shown = (mode & 0o7777).toString(8).padStart(4, '0');
    return { problem: `SECRET_FILE_MODE ${shown}, want 0600, or 0440 of root or of this user: file:${path}` };
  }
  if (size > BYTES_MAX) return { problem: `SECRET_BAD file:${path}: ${size} bytes are too many for a key` };
  const value = readFileSync(file, 'utf8').trim();
  return value === '' ? { problem: `SECRET_MISSING file:${path}: it is empty` } : { value };
}
