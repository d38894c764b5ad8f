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

/** The fault comes this many times, then the step is answered. */
const times = z.int().min(1).default(1);

const StatusFault = z.strictObject({
  status: z.int().min(400).max(599),
  /** Sent as it is: seconds, or an HTTP date. */
  retryAfter: z.union([z.number(), z.string()]).optional(),
  /** The provider's own code, as `context_length_exceeded`. */
  code: z.string().optional(),
  message: z.string().optional(),
  times,
});

const CutAfterBytesFault = z.strictObject({ cutAfterBytes: z.int().min(0), by: CutBy.default('end'), times });

const CutAfterEventFault = z.strictObject({ cutAfterEvent: EventKind, by: CutBy.default('end'), times });

const StallFault = z.strictObject({
  stall: z.literal(true),
  /** Goes silent after the first event of this kind. @default not even headers are sent */
  afterEvent: EventKind.optional(),
  /** Not silent, but nothing else than pings this often. */
  pingEveryMs: z.int().min(1).optional(),
  times,
});

const StreamErrorFault = z.strictObject({
  /** The error's type, as `overloaded_error`. */
  streamError: z.string(),
  message: z.string().default('The server had an error while answering.'),
  afterEvent: EventKind.default('start'),
  times,
});

const HtmlFault = z.strictObject({ html: z.literal(true), times });

const RedirectFault = z.strictObject({ redirect: z.string(), times });

/** No fault of the wire: the model thinks this long and says nothing. */
const OverthinkFault = z.strictObject({ thinkTokens: z.int().min(1).max(1_000_000), times });

/**
 * What goes wrong before a step is answered: an HTTP status, a cut or stalled stream, an error event within the stream, a web page
 * with status 200, a redirect to another address, or a model that only thinks.
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

/** A fault of the wire: the answer does not arrive, or not whole. */
export type WireFault = Exclude<ScriptFault, { thinkTokens: number }>;
