import { z } from 'zod';

const Id = z.string().min(1).max(200);

/** Where a message that was sent stands: the n-th block of a part of a run. */
const Place = {
  conversation: Id,
  run: z.string().max(1_000),
  /** The part of the run: an answer of the model, its thinking, the output, or a notice. */
  part: z.string().max(300),
  n: z.number().int().min(0),
};

/** One line of a journal. It has no text of a message. */
export const JournalRecord = z.discriminatedUnion('type', [
  /** A message of a person is passed to its session. `at`: milliseconds since 1970. */
  z.strictObject({ type: z.literal('received'), conversation: Id, id: Id, at: z.number() }),
  /** The session refused it, and cannot have it: the platform sends it again. */
  z.strictObject({ type: z.literal('withdrawn'), conversation: Id, id: Id }),
  /** The session ended the run that answers the messages. It lists only its newest runs. */
  z.strictObject({ type: z.literal('assigned'), conversation: Id, ids: z.array(Id), run: z.string().max(1_000) }),
  /** The session dropped the message: no run answers it. */
  z.strictObject({ type: z.literal('dropped'), conversation: Id, id: Id, reason: z.string().max(1_000) }),
  /** A block is about to be sent, or edited. `end`: where it ends in the text of its part. `hash`: of what people see. `at`: as above. */
  z.strictObject({ type: z.literal('sending'), ...Place, end: z.number().int(), hash: z.string().max(64), at: z.number().optional() }),
  /** The platform has the block under this id. An empty id: it refused the block. */
  z.strictObject({ type: z.literal('sent'), ...Place, id: z.string().max(500) }),
  /** The messages were answered, or reported as not answered, and the run was delivered. */
  z.strictObject({ type: z.literal('settled'), conversation: Id, ids: z.array(Id), run: z.string().max(1_000).optional() }),
]);
export type JournalRecord = z.infer<typeof JournalRecord>;

/** The place of a block. */
export type BlockPlace = Pick<Extract<JournalRecord, { type: 'sending' }>, 'conversation' | 'run' | 'part' | 'n'>;
