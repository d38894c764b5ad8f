import { z } from 'zod';

/** What a token allows: `run` starts runs, `read` is every GET, `steer` controls runs, `approve` decides about calls. */
export const Right = z.enum(['run', 'read', 'steer', 'approve']);
export type Right = z.infer<typeof Right>;

/** Who sent a request, by its token. */
export interface Caller {
  /** Identifies the token for its rate limit. No secret. */
  readonly key: string;
  /** The tenant whose runs the caller sees. Absent: all runs. */
  readonly tenant?: string;
  readonly rights: ReadonlySet<Right>;
}

/** The name of a caller in decisions, which other operators see. */
export function nameOf({ tenant }: Caller): string {
  return tenant === undefined ? 'http' : `http:${tenant}`;
}
