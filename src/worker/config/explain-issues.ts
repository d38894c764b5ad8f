import type { z } from 'zod';
import { didYouMean } from '../../contracts/text/did-you-mean.js';
import { fieldsAt } from './config-fields.js';

/** Formats the issues of a config schema, one line each: path, problem, and a suggestion. */
export function describeIssues(issues: readonly z.core.$ZodIssue[], given: unknown): string[] {
  return issues.flatMap((issue) => {
    const path = issue.path.map(String);
    // the user chooses the keys of a record, so they are replaced by *
    const names = issue.path.map((name, index) =>
      index === 1 || typeof name === 'number' || isNamedByUser(path, index) ? '*' : String(name),
    );
    const pattern = names.join('.');
    const value = valueAt(given, issue.path);
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey([...path, key].join('.'), { pattern, key, value }));
    const nested = issue.code === 'invalid_union' && isGroup(value) ? matchingForm(issue.errors) : undefined;
    if (nested)
      return describeIssues(
        nested.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })),
        given,
      );
    return [`${path.join('.') || 'config'}: ${value === undefined ? missing(issue) : messageOf(issue)}${suggestion(issue, value)}`];
  });
}

/** `tenants.limits` and `limits.providers` are records a level deeper, and those of a plugin two. */
function isNamedByUser([first = '']: readonly string[], index: number): boolean {
  return (index === 2 && ['tenants', 'limits'].includes(first)) || (index === 3 && first === 'plugins');
}

/** The union member that the given object matches best: its problems are in nested fields only, and the fewest. */
function matchingForm(forms: readonly z.core.$ZodIssue[][]): readonly z.core.$ZodIssue[] | undefined {
  const nested = forms.filter((issues) => issues.every(({ code, path }) => path.length > 0 || code === 'unrecognized_keys'));
  return nested.toSorted((a, b) => a.length - b.length)[0];
}

function isGroup(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Suggests the nearest allowed value. */
function suggestion(issue: z.core.$ZodIssue, value: unknown): string {
  return typeof value === 'string' ? didYouMean(value, allowedValues(issue)) : '';
}

/** The allowed values of a field. */
function allowedValues(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String);
  if (issue.code !== 'invalid_union') return [];
  return [...kindsOf(issue), ...issue.errors.flat().flatMap(allowedValues)];
}

/** The allowed kinds of a discriminated union, if the kind is invalid. */
function kindsOf(issue: z.core.$ZodIssueInvalidUnion): readonly string[] {
  return 'options' in issue && Array.isArray(issue.options) ? issue.options.map(String) : [];
}

function unknownKey(
  path: string,
  { pattern, key, value }: { readonly pattern: string; readonly key: string; readonly value: unknown },
): string {
  return `${path}: unknown${didYouMean(key, fieldsAt(pattern, value))}`;
}

/** The message for a missing field. */
function missing(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return `missing, expected ${issue.expected}`;
  return issue.code === 'custom' ? `missing, expected ${issue.message}` : messageOf(issue);
}

/** The message of an issue. For a union, the messages of all its members. */
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
