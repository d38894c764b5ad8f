import { z } from 'zod';

/**
 * A key by reference: the name of an environment variable, or the absolute path of a file that only its owner may open (mode 0600) and
 * that lies in no workspace. It is read in the activity at call time. Values never stand in a config.
 */
export const KeyReference = z
  .string()
  .regex(/^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:\/.+)$/u, 'a reference like "env:OPENAI_API_KEY" or "file:/run/secrets/openai"');
