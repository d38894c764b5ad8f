import type { JournalRecord } from './journal-record.js';

/**
 * What a channel must remember over the death of its process: the messages that are not answered, and the blocks that were sent.
 *
 * Contract: `append` resolves when the record survives the process. One bridge uses a journal at a time; calls do not run in parallel.
 * `replace` is atomic: after a crash, either the old records are there or the new ones.
 */
export interface ChannelJournal {
  /** All records, oldest first. */
  read(): Promise<readonly JournalRecord[]>;
  append(record: JournalRecord): Promise<void>;
  /** Replaces all records by those of what is still open. */
  replace(records: readonly JournalRecord[]): Promise<void>;
  /** Size of the journal in bytes. */
  readonly bytes: number;
  close(): Promise<void>;
}
