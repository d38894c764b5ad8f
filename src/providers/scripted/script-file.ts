import { readFile, realpath } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { parse } from 'yaml';
import type { z } from 'zod';
import { PerdureError } from '../../contracts/perdure-error.js';
import { cutText } from '../../contracts/text/redact.js';
import { Script } from './script.js';

const PROBLEMS_BYTES_MAX = 2_048;

/**
 * Reads a script that a model name gives: a file of the worker's folder. Another one is refused, because whoever starts a run chooses the
 * name, and the error of a file that is no script shows a part of it. Throws as `readScript` does.
 */
export async function readScriptWithin(folder: string, file: string): Promise<Script> {
  const path = resolve(folder, file);
  // a missing file gets its own message
  const real = await realpath(path).catch(() => path);
  if (real.startsWith((await realpath(folder)) + sep) || real.startsWith(resolve(folder) + sep)) return await readScript(file);
  throw badScript(file, `scripted models are files of ${folder}, where the worker runs`);
}

/** Reads a script file, JSON or YAML. Throws a PerdureError `BAD_SCRIPT` naming the file, and the path of each problem in it. */
export async function readScript(file: string): Promise<Script> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw badScript(file, error instanceof Error ? error.message : String(error), error);
  }
  return parseScript(text, file);
}

/** Parses a script, JSON or YAML. Throws a PerdureError `BAD_SCRIPT` naming `source`, and the path of each problem. */
export function parseScript(text: string, source: string): Script {
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    const firstLine = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw badScript(source, `neither JSON nor YAML: ${firstLine}`, error);
  }
  return checkScript(value, source);
}

/** Checks a script given as a value, and completes it with defaults. Throws a PerdureError `BAD_SCRIPT` with the path of each problem. */
export function checkScript(value: unknown, source: string): Script {
  const checked = Script.safeParse(value);
  if (checked.success) return checked.data;
  throw badScript(source, checked.error.issues.map((issue) => describeIssue(issue, [])).join('; '), checked.error);
}

function badScript(source: string, problem: string, cause?: unknown): PerdureError {
  return new PerdureError('BAD_SCRIPT', cutText(`${source}: ${problem}`, PROBLEMS_BYTES_MAX), 2, { cause });
}

function describeIssue(issue: z.core.$ZodIssue, above: readonly PropertyKey[]): string {
  const path = [...above, ...issue.path];
  if (issue.code === 'invalid_union') {
    const meant = closestBranch(issue.errors);
    if (meant) return meant.map((inner) => describeIssue(inner, path)).join('; ');
  }
  return `${pathText(path)}: ${issue.message}`;
}

/** The branch with the fewest problems is what the writer meant; a tie says nothing. */
function closestBranch(branches: readonly z.core.$ZodIssue[][]): readonly z.core.$ZodIssue[] | undefined {
  const [first, second] = branches.toSorted((a, b) => a.length - b.length);
  return first && first.length > 0 && first.length < (second?.length ?? Infinity) ? first : undefined;
}

function pathText(path: readonly PropertyKey[]): string {
  const text = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  return text.replace(/^\./u, '') || 'script';
}
