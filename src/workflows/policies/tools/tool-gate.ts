import { type GatedTool, profileDecision } from '../../../contracts/access/gate-profile.js';
import { WORKSPACE_LIMITS } from '../../../contracts/constants/limits.js';
import type { JsonValue } from '../../../contracts/schemas/message.js';
import type { GateDecision, GatePolicy, GateRule } from '../../../contracts/schemas/policy.js';
import { matchesName } from '../../../contracts/text/wildcard.js';
import { globMatches } from './path-glob.js';
import { type ReadCommand, readCommand } from './shell-words.js';

/** The gate's decision about one call. `reason`: why it is blocked or needs approval. */
export interface GateVerdict {
  readonly decision: GateDecision;
  readonly by: 'gate';
  readonly reason?: string;
}

/**
 * Judges one call by the run's gate: the first matching rule decides, else the profile. In doubt a rule that allows does not match, and a
 * rule that blocks or asks does. Never throws.
 */
export function gateTool(policy: GatePolicy, tool: GatedTool, args: JsonValue): GateVerdict {
  const call: GatedCall = { tool: tool.name, args, command: commandOf(policy, args) };
  const rule = policy.rules.find((one) => ruleMatches(one, call));
  const decision = rule?.decision ?? profileDecision(policy.profile, tool);
  if (decision === 'allow') return { decision, by: 'gate' };
  return { decision, by: 'gate', reason: rule ? ruleReason(rule) : `the profile ${policy.profile} ${PROFILE_REASONS[decision]}` };
}

const PROFILE_REASONS = { block: 'does not allow this tool', ask: 'requires approval for this tool' } as const;

function ruleReason({ tool, command, paths, reason }: GateRule): string {
  if (reason !== undefined) return reason;
  return `the rule for ${[tool, command, paths?.join(' ')].filter((part) => part !== undefined).join(' ')}`;
}

/** One call, parsed for the rules. `command`: undefined when it has none, `unreadable` when it is not text. */
interface GatedCall {
  readonly tool: string;
  readonly args: JsonValue;
  readonly command: ReadCommand | 'unreadable' | undefined;
}

function commandOf({ rules }: GatePolicy, args: JsonValue): GatedCall['command'] {
  if (rules.every(({ command }) => command === undefined)) return undefined;
  const command = argument(args, 'command');
  if (command === undefined) return undefined;
  return typeof command === 'string' ? readCommand(command) : 'unreadable';
}

function ruleMatches(rule: GateRule, { tool, args, command }: GatedCall): boolean {
  if (!matchesName(rule.tool, tool)) return false;
  const allows = rule.decision === 'allow';
  if (rule.command !== undefined && !commandMatches(rule.command, command, allows)) return false;
  return rule.paths === undefined || pathsMatch(rule.paths, args, allows);
}

function commandMatches(wanted: string, command: GatedCall['command'], allows: boolean): boolean {
  // a rule for commands does not match a call without one; a command that is not text may be any command
  if (command === undefined) return false;
  if (command === 'unreadable') return !allows;
  const words = wanted.split(/\s+/u).filter((word) => word !== '');
  if (!allows) return command.mayRun(words);
  return command.simple !== undefined && words.every((word, at) => command.simple?.[at] === word);
}

/** Tools name the argument `path` or `file_path`. A rule that allows must match all given paths; any other rule one of them. */
function pathsMatch(globs: readonly string[], args: JsonValue, allows: boolean): boolean {
  const given = ['path', 'file_path'].map((key) => argument(args, key)).filter((path) => path !== undefined);
  if (allows) return given.length > 0 && given.every((path) => pathMatches(globs, path, allows));
  return given.some((path) => pathMatches(globs, path, allows));
}

function pathMatches(globs: readonly string[], path: JsonValue, allows: boolean): boolean {
  if (typeof path !== 'string' || path.length > WORKSPACE_LIMITS.pathCharsMax) return !allows;
  const { inside, parts } = normalParts(path);
  const normal = parts.join('/');
  if (inside) return globs.some((glob) => globMatches(glob, normal));
  // the workspace's location is not known here: any tail of such a path may be inside it
  return !allows && globs.some((glob) => globMatches(glob.includes('/') ? `**/${glob.replace(/^\.?\//u, '')}` : glob, normal));
}

/** A path without `.` and `..`. `inside`: it is relative and does not leave its starting folder. */
function normalParts(path: string): { readonly inside: boolean; readonly parts: readonly string[] } {
  const parts: string[] = [];
  let inside = !path.startsWith('/') && !path.startsWith('~');
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) inside = false;
  }
  return { inside, parts };
}

function argument(args: JsonValue, key: string): JsonValue | undefined {
  if (args === null || typeof args !== 'object' || Array.isArray(args) || !Object.hasOwn(args, key)) return undefined;
  return args[key];
}
