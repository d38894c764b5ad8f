import type { z } from 'zod';
import { WireRefusal } from '../../format/format-server.js';

/**
 * A refusal in the words of OpenAI's APIs for what a schema found wrong. A discriminated union gives the values it takes as its message.
 *
 * @param above the path of the part that was parsed
 */
export function refusalOf(issue: z.core.$ZodIssue, above: readonly PropertyKey[] = []): WireRefusal {
  const path = [...above, ...issue.path];
  const param = paramOf(path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return refuseUnknown(paramOf([...path, issue.keys[0] ?? '']));
    case 'invalid_union':
      return refuseUnion(issue, path);
    case 'invalid_value':
      return refuseValue(issue.input, listOf(issue.values), param);
    case 'too_small':
      return refuseSmall(issue, param);
    case 'too_big':
      return refuseLong(issue, param);
    case 'invalid_format': {
      const expected = `Expected a string that matches the pattern '${issue.pattern?.replace(/^\/|\/[a-z]*$/gu, '') ?? ''}'.`;
      return refuse(`Invalid '${param}': string does not match pattern. ${expected}`, 'invalid_value', param);
    }
    case 'invalid_type':
    case 'invalid_key':
    case 'invalid_element':
    case 'not_multiple_of':
    case 'custom':
      return refuseType(issue, param);
  }
}

function refuseUnion(issue: z.core.$ZodIssueInvalidUnion, path: readonly PropertyKey[]): WireRefusal {
  const { input, discriminator } = issue;
  if (discriminator !== undefined && input !== null && typeof input === 'object') {
    const inner = issue.path.at(-1) === discriminator ? path : [...path, discriminator];
    return refuseValue(Reflect.get(input, discriminator), issue.message, paramOf(inner));
  }
  const [closest] = issue.errors.find((branch) => branch.some((found) => found.path.length > 0)) ?? [];
  return closest ? refusalOf(closest, path) : refuseType(issue, paramOf(path));
}

function refuseUnknown(param: string): WireRefusal {
  return refuse(`Unknown parameter: '${param}'.`, 'unknown_parameter', param);
}

function refuseValue(value: unknown, supported: string, param: string): WireRefusal {
  if (value === undefined) return refuseMissing(param);
  const shown = typeof value === 'string' ? value : JSON.stringify(value);
  return refuse(`Invalid value: '${shown}'. Supported values are: ${supported}.`, 'invalid_value', param);
}

function refuseMissing(param: string): WireRefusal {
  return refuse(`Missing required parameter: '${param}'.`, 'missing_required_parameter', param);
}

function refuseSmall(issue: z.core.$ZodIssueTooSmall, param: string): WireRefusal {
  const { input, minimum } = issue;
  if (Array.isArray(input)) {
    const expected = `Expected an array with minimum length ${minimum}, but got an empty array instead.`;
    return refuse(`Invalid '${param}': empty array. ${expected}`, 'empty_array', param);
  }
  if (typeof input === 'number') {
    const expected = `Expected a value >= ${minimum}, but got ${input} instead.`;
    return refuse(`Invalid '${param}': integer below minimum value. ${expected}`, 'integer_below_min_value', param);
  }
  return refuseType(issue, param);
}

function refuseLong(issue: z.core.$ZodIssueTooBig, param: string): WireRefusal {
  const { input, maximum } = issue;
  if (typeof input !== 'string') return refuseType(issue, param);
  const expected = `Expected a string with maximum length ${maximum}, but got a string with length ${input.length} instead.`;
  return refuse(`Invalid '${param}': string too long. ${expected}`, 'string_above_max_length', param);
}

function refuseType(issue: z.core.$ZodIssue, param: string): WireRefusal {
  if (issue.input === undefined) return refuseMissing(param);
  const expected = issue.code === 'invalid_type' ? `a value of type ${issue.expected}` : 'another value';
  return refuse(`Invalid type for '${param}': expected ${expected}, but got ${kindOf(issue.input)} instead.`, 'invalid_type', param);
}

function refuse(message: string, code: string, param: string): WireRefusal {
  return new WireRefusal(400, message, { code, param });
}

function listOf(values: readonly unknown[]): string {
  return values.map((value) => `'${String(value)}'`).join(', ');
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}

function paramOf(path: readonly PropertyKey[]): string {
  return path.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index > 0 ? '.' : ''}${String(key)}`)).join('');
}
