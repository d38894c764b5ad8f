import { z } from 'zod';
import { MCP_LIMITS, SAMPLING_LIMITS, TOOL_LIMITS } from '../../contracts/constants/limits.js';
import { Effect } from '../../contracts/schemas/tool.js';
import { SandboxDefinition } from './sandbox.js';

const TimeoutMs = z.number().int().min(TOOL_LIMITS.timeoutMsMin).max(TOOL_LIMITS.timeoutMsMax);

/** What you know better of a tool than its server says. */
export const McpToolOptions = z.strictObject({
  /** Side effect of the tool. @default from its annotations: `readOnlyHint` is `read`, `idempotentHint` is `idempotent`, else `once` */
  effect: Effect.optional(),
  /** Whether each call waits for approval. @default that of the server */
  approval: z.enum(['never', 'always']).optional(),
  /** Time limit of a call in milliseconds: 1 s to an hour. @default that of the server */
  timeoutMs: TimeoutMs.optional(),
});
export type McpToolOptions = z.infer<typeof McpToolOptions>;

/** Limits of the completions that a server may request. */
export const SamplingOptions = z.strictObject({
  /** Completions of one call: 1 to 20. @default 5 */
  maxRequests: z.number().int().min(1).max(SAMPLING_LIMITS.requestsMax).optional(),
  /** Output tokens of one completion: 1 to 8,192. A server that asks for more gets this limit. @default 2,048 */
  maxTokens: z.number().int().min(1).max(SAMPLING_LIMITS.tokensMax).optional(),
});
export type SamplingOptions = z.infer<typeof SamplingOptions>;

const ServerOptions = {
  /** Time limit of a call in milliseconds: 1 s to an hour. @default 45 s */
  timeoutMs: TimeoutMs.optional(),
  /** Whether each call of its tools waits for approval. @default never */
  approval: z.enum(['never', 'always']).optional(),
  /** Options of single tools, by the name that the server gives them. @default none */
  tools: z.record(z.string(), McpToolOptions).optional(),
  /** Names of tools, as the server gives them, that no run is offered. @default none */
  blockedTools: z.array(z.string()).optional(),
  /** Lets the server ask the person of a run during a call (elicitation). Each run then has a connection, or a process, of its own. @default false */
  elicitation: z.boolean().optional(),
  /** Lets the server request completions of the run's model during a call (sampling), within the run's budget. Each run then has a connection, or a process, of its own. @default false */
  sampling: z.union([z.boolean(), SamplingOptions]).optional(),
  /** True: a run does not start without this server. False: it starts without the tools of the server, with a notice. @default false */
  required: z.boolean().optional(),
};

/** An MCP server that the worker starts as a child process. It runs in the sandbox of commands, and ends with the worker. */
export const McpProcess = z.strictObject({
  /** The program. */
  command: z.string().min(1),
  /** Its arguments. @default none */
  args: z.array(z.string()).optional(),
  /** Variables: values, or references such as `env:NAME`. It also gets the variables of workspace commands. @default none */
  env: z.record(z.string(), z.string()).optional(),
  /** One process for each workspace, in that folder, which it may change. Runs without a workspace are not offered its tools. @default false */
  workspace: z.boolean().optional(),
  /** Working folder, an absolute path, which it may change. @default an empty folder, deleted when the process ends */
  cwd: z.string().regex(/^\/./u, 'is no absolute path').optional(),
  /** What the process may reach. @default `sandbox` of the config: no network */
  sandbox: SandboxDefinition.optional(),
  ...ServerOptions,
});
export type McpProcess = z.infer<typeof McpProcess>;

/** An MCP server with an address: streamable HTTP. */
export const McpAddress = z.strictObject({
  /** The address: `https://host/path`, or `http://` on this machine. */
  url: z.string(),
  /** Headers of each request: values, or references such as `env:NAME`. @default none */
  headers: z.record(z.string(), z.string()).optional(),
  /** Reference to an OAuth access token or another bearer token, such as `env:NAME`. It is read for each connection. @default none */
  token: z.string().optional(),
  /** Allows plain `http://` to another machine. @default false */
  allowInsecure: z.boolean().optional(),
  ...ServerOptions,
});
export type McpAddress = z.infer<typeof McpAddress>;

/** An MCP server: a child process, or an address. */
export const McpServer = z.union([McpProcess, McpAddress]);
export type McpServer = z.infer<typeof McpServer>;

/** MCP servers by name. The name is the first part of the names of their tools. */
export const McpServers = z.record(
  z.string().regex(MCP_LIMITS.serverNamePattern, 'use a letter, then up to 23 letters, digits or -, as the name of a server'),
  McpServer,
);
export type McpServers = z.infer<typeof McpServers>;
