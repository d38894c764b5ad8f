import { z } from 'zod';

/** A key by reference: the name of an environment variable, read in the activity at call time. Values never stand in a config. */
export const KeyReference = z.string().regex(/^env:[A-Za-z_][A-Za-z0-9_]*$/u, 'a reference like "env:OPENAI_API_KEY"');
