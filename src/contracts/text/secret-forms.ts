import { CONTENT_LIMITS } from '../constants/limits.js';

/** A secret value and the name that replaces it, such as `env:OPENAI_API_KEY`. */
export interface KnownSecret {
  readonly name: string;
  readonly value: string;
}

/** A text that stands for a secret. */
export interface SecretForm {
  readonly text: string;
  /** Line breaks may be inside, as `base64` writes them. */
  readonly wraps: boolean;
}

/**
 * The forms of a value: plain, percent-encoded, escaped for JSON, and base64 or base64url, also as a part of a longer
 * encoded text. Empty for a value under 8 characters. Pure.
 */
export function secretForms(value: string): SecretForm[] {
  if (value.length < CONTENT_LIMITS.secretCharsMin) return [];
  const plain = new Set([value, ...percentForms(value), ...jsonForms(value)]);
  const encoded = new Set(base64Forms(value));
  return [...[...plain].map((text) => ({ text, wraps: false })), ...[...encoded].map((text) => ({ text, wraps: true }))];
}

/** Encoders differ in the case of their digits, and in whether they encode `!'()*`. */
function percentForms(text: string): string[] {
  const encoded = encodeURIComponent(text.toWellFormed());
  const strict = encoded.replaceAll(/[!'()*]/gu, (mark) => `%${(mark.codePointAt(0) ?? 0).toString(16).toUpperCase()}`);
  return [encoded, strict].flatMap((form) => [form, form.replaceAll(/%[0-9A-F]{2}/gu, (code) => code.toLowerCase())]);
}

/** Escaped once and twice, and as encoders do that also escape `/`, or the characters that HTML interprets. */
function jsonForms(text: string): string[] {
  const once = escaped(text);
  const forHtml = once.replaceAll(/[<>&'=]/gu, (mark) => `\\u00${(mark.codePointAt(0) ?? 0).toString(16)}`);
  return [once, escaped(once), once.replaceAll('/', String.raw`\/`), forHtml];
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/**
 * Base64 encodes three bytes as four characters. Within a longer text a value therefore has three encodings, by its position. Only the
 * characters that no neighbour influences are searched.
 */
function base64Forms(text: string): string[] {
  const bytes = new TextEncoder().encode(text);
  const cores = [0, 1, 2].map((before) => {
    const encoded = base64([...Array.from({ length: before }, () => 0), ...bytes]).replace(/=+$/u, '');
    const isWhole = (before + bytes.length) % 3 === 0;
    return encoded.slice(before === 0 ? 0 : before + 1, isWhole ? undefined : -1);
  });
  return cores.flatMap((core) => [core, core.replaceAll('+', '-').replaceAll('/', '_')]);
}

function base64(bytes: readonly number[]): string {
  return btoa(bytes.map((byte) => String.fromCharCode(byte)).join(''));
}
