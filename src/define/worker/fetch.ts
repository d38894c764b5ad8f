import { z } from 'zod';

/** A host of `fetch.allow`, as in the network rules of the sandbox. */
const Host = z.string().regex(/^[^\s/]+$/u, 'is a host such as wiki.example.com, *.example.com or 10.0.0.7:8080, without a path');

/** What the tool `fetch_url` may reach beyond the public internet. */
export const FetchDefinition = z.strictObject({
  /**
   * Hosts that may have addresses of private networks, or of this machine: `host`, `*.host` or an address, with ports 80 and 443, or with
   * the port in the entry (`wiki.internal:8080`). @default none
   */
  allow: z.array(Host).optional(),
});
export type FetchDefinition = z.infer<typeof FetchDefinition>;
