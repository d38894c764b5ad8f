import { z } from 'zod';
import { WORKSPACE_LIMITS } from '../../contracts/constants/limits.js';

const CHARS_MAX = WORKSPACE_LIMITS.commandCharsMax;

/**
 * The parameter `command` of each tool that starts a command: text for `sh -c`, which runs in the workspace folder.
 *
 * It is bounded because the command is an argument of a process, and has no NUL because such an argument cannot have one. A longer
 * command belongs into a script file.
 */
export const ShellCommand = z
  .string()
  .max(CHARS_MAX, `is longer than ${CHARS_MAX} characters: write a script file and run it`)
  .refine((command) => command.trim() !== '' && !command.includes('\0'), 'is empty or contains a NUL character')
  .describe('Shell command, run in the workspace folder.');
