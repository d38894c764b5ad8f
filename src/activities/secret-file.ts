import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

/** No key is longer; a log file that was named by mistake is. */
const BYTES_MAX = 64 * 1_024;

/** Bits of a mode that let others than the owner read or change a file. */
const OTHERS = 0o077;

/**
 * The secret that a file holds, without the line break at its end; or why it gives none: `SECRET_MISSING`, `SECRET_FILE_MODE` when others
 * than its owner may open it, `SECRET_BAD`. Read anew each time, so that a key that was rotated is taken without a restart. Never throws.
 */
export function readSecretFile(path: string): { readonly value: string } | { readonly problem: string } {
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
  const { mode, size } = found;
  if (!found.isFile()) return { problem: `SECRET_BAD file:${path}: it is no file` };
  // Windows has no such bits
  if (process.platform !== 'win32' && (mode & OTHERS) !== 0) {
    return { problem: `SECRET_FILE_MODE ${(mode & 0o7777).toString(8).padStart(4, '0')}, want 0600: file:${path}` };
  }
  if (size > BYTES_MAX) return { problem: `SECRET_BAD file:${path}: ${size} bytes are no key` };
  const value = readFileSync(file, 'utf8').trim();
  return value === '' ? { problem: `SECRET_MISSING file:${path}: it is empty` } : { value };
}
