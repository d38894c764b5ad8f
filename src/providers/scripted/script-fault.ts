import { z } from 'zod';

/**
 * The kinds of events an answer's stream is made of, in any wire format. `usage` exists in chat completions only, `ping` in messages
 * only; `block_start` and `block_end` do not exist in chat completions, `finish` not in responses, where `done` tells all.
 */
export const EventKind = z.enum([
  'start',
  'ping',
  'block_start',
  'thinking',
  'text',
  'tool_call',
  'arguments',
  'block_end',
  'finish',
  'usage',
  'done',
]);
export type EventKind = z.infer<typeof EventKind>;

/**
 * How a stream is cut: `end` closes the body as if it were complete (the cut no client library reports), `close` closes the
 * connection within the body, `reset` sends a TCP reset.
 */
export const CutBy = z.enum(['end', 'close', 'reset']);
export type CutBy = z.infer<typeof CutBy>;

/** The fault occurs this many times, then the step is answered. */
const times = z.int().min(1).default(1);

/** An HTTP error. */
const StatusFault = z.strictObject({
  status: z.int().min(400).max(599),
  /** Retry-After header: seconds, or an HTTP date. */
  retryAfter: z.union([z.number(), z.string()]).optional(),
  /** Error code of the provider, such as `context_length_exceeded`. */
  code: z.string().optional(),
  message: z.string().optional(),
  times,
});

/** The stream is cut after a number of bytes. */
const CutAfterBytesFault = z.strictObject({ cutAfterBytes: z.int().min(0), by: CutBy.default('end'), times });

/** The stream is cut after the first event of a kind. */
const CutAfterEventFault = z.strictObject({ cutAfterEvent: EventKind, by: CutBy.default('end'), times });

/** The stream goes silent, or sends only pings. */
const StallFault = z.strictObject({
  stall: z.literal(true),
  /** Silence starts after the first event of this kind. @default before the headers */
  afterEvent: EventKind.optional(),
  /** Sends a ping at this interval instead of silence. */
  pingEveryMs: z.int().min(1).optional(),
  times,
});

/** An error event within the stream. */
const StreamErrorFault = z.strictObject({
  /** Type of the error, such as `overloaded_error`. */
  streamError: z.string(),
  message: z.string().default('The server had an error while answering.'),
  afterEvent: EventKind.default('start'),
  times,
});

/** A web page with status 200. */
const HtmlFault = z.strictObject({ html: z.literal(true), times });

/** A redirect to this address. */
const RedirectFault = z.strictObject({ redirect: z.string(), times });

/** The model thinks for this many tokens and returns no text. Not a fault of the connection. */
const OverthinkFault = z.strictObject({ thinkTokens: z.int().min(1).max(1_000_000), times });

/**
 * A fault before a step is answered: an HTTP error, a cut or stalled stream, an error event, a web page with status 200, a redirect, or a
 * model that only thinks.
 */
export const ScriptFault = z.union([
  StatusFault,
  CutAfterBytesFault,
  CutAfterEventFault,
  StallFault,
  StreamErrorFault,
  HtmlFault,
  RedirectFault,
  OverthinkFault,
]);
export type ScriptFault = z.infer<typeof ScriptFault>;

/** A fault of the connection: the answer does not arrive completely. */
export type WireFault = Exclude<ScriptFault, { thinkTokens: number }>;
