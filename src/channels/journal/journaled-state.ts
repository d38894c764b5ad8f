import { CHANNEL_LIMITS } from '../../contracts/constants/limits.js';
import type { ChannelJournal } from './channel-journal.js';
import { ChannelState } from './channel-state.js';
import type { JournalRecord } from './journal-record.js';

/** The state of a channel, of which each change is in the journal before it counts. */
export class JournaledState {
  readonly state = new ChannelState();
  readonly #journal: ChannelJournal;
  #writing: Promise<void> = Promise.resolve();
  #bytesMax: number = CHANNEL_LIMITS.journalBytesMax;

  private constructor(journal: ChannelJournal) {
    this.#journal = journal;
  }

  /** Reads the journal, and writes it anew with only what is open. Throws as the journal does. */
  static async open(journal: ChannelJournal): Promise<JournaledState> {
    const opened = new JournaledState(journal);
    try {
      for (const record of await journal.read()) opened.state.apply(record);
      await journal.replace(opened.state.records());
      return opened;
    } catch (error) {
      await journal.close();
      throw error;
    }
  }

  /** Adds a record. Rejects if it could not be written: the state is then as before. */
  async add(record: JournalRecord): Promise<void> {
    const written = this.#write(record, this.#writing);
    this.#writing = written.catch(ignore);
    await written;
  }

  /** Resolves when all records were written. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#journal.close();
  }

  async #write(record: JournalRecord, before: Promise<void>): Promise<void> {
    await before;
    await this.#journal.append(record);
    this.state.apply(record);
    if (this.#journal.bytes > this.#bytesMax) await this.#shorten();
  }

  async #shorten(): Promise<void> {
    await this.#journal.replace(this.state.records());
    // what is open may be large itself
    this.#bytesMax = this.#journal.bytes + CHANNEL_LIMITS.journalBytesMax;
  }
}

function ignore(): void {
  // who added the record gets the error
}
