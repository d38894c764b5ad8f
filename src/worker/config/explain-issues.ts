import type { z } from 'zod';
import { didYouMean } from '../../contracts/text/did-you-mean.js';
import { fieldsAt, LATER } from './config-fields.js';

/** What a schema says of a config, a line for each problem: its path, what is wrong, and what was probably meant. */
export function describeIssues(issues: readonly z.core.$ZodIssue[], given: unknown): string[] {
  return issues.flatMap((issue) => {
    const path = issue.path.map(String);
    // what a record's entries are called is up to its writer
    const place = issue.path.map((name, index) => (index === 1 || typeof name === 'number' ? '*' : String(name))).join('.');
    const value = valueAt(given, issue.path);
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey([...path, key].join('.'), { place, key, value }));
    const inside = issue.code === 'invalid_union' && isGroup(value) ? formMeant(issue.errors) : undefined;
    if (inside)
      return describeIssues(
        inside.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })),
        given,
      );
    if (LATER[place]?.includes(String(value))) return [`${path.join('.')}: ${String(value)} is not supported in this version`];
    return [`${path.join('.') || 'config'}: ${value === undefined ? missing(issue) : messageOf(issue)}${meantValue(issue, value)}`];
  });
}

/** The form of a union that takes options with parts, when such options were given: its problems are in the parts. */
function formMeant(forms: readonly z.core.$ZodIssue[][]): readonly z.core.$ZodIssue[] | undefined {
  return forms.find((issues) => issues.every(({ code, path }) => path.length > 0 || code === 'unrecognized_keys'));
}

function isGroup(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One of few words was mistyped. */
function meantValue(issue: z.core.$ZodIssue, value: unknown): string {
  return typeof value === 'string' ? didYouMean(value, wordsOf(issue)) : '';
}

/** The words that would have been right. */
function wordsOf(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String);
  if (issue.code !== 'invalid_union') return [];
  return [...kindsOf(issue), ...issue.errors.flat().flatMap(wordsOf)];
}

/** The kinds that options come in, when that is what was not said. */
function kindsOf(issue: z.core.$ZodIssueInvalidUnion): readonly string[] {
  return 'options' in issue && Array.isArray(issue.options) ? issue.options.map(String) : [];
}

function unknownKey(
  path: string,
  { place, key, value }: { readonly place: string; readonly key: string; readonly value: unknown },
): string {
  if (LATER[place]?.includes(key)) return `${path}: not supported in this version`;
  return `${path}: unknown${didYouMean(key, fieldsAt(place, value))}`;
}

/** What would have to be there. */
function missing(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return `missing, ${issue.expected} is needed`;
  return issue.code === 'custom' ? `missing, ${issue.message} is needed` : messageOf(issue);
}

/** A union that nothing fits says what each of its forms misses. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_union') return issue.message;
  const kinds = kindsOf(issue);
  return kinds.length > 0 ? `one of ${kinds.join(', ')}` : [...new Set(issue.errors.flat().map(messageOf))].join(', or ');
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  let value = given;
  for (const key of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  return value;
}
