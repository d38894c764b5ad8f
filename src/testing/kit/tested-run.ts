import type { RunHandle } from '../../client/run-handle.js';
import type { StartInput } from '../../client/runs/start-run.js';
import type { RunEvent } from '../../contracts/event.js';
import type { TypedRunResult } from '../../contracts/json/output-schema.js';
import type { JsonValue, Message } from '../../contracts/schemas/message.js';
import type { ScriptInput } from '../../providers/scripted/script.js';
import type { TestedCall } from './tested-calls.js';
import type { TestedConfigOptions } from './tested-config.js';

/** Options of `testAgent`: the config, the script, and the input of the run. */
export type TestAgentOptions<Structured = JsonValue> = TestedConfigOptions &
  Omit<StartInput<Structured>, 'id' | 'agent' | 'model' | 'fallbacks'> & {
    /** The answers of the model: a script, or the path of a script file from the current folder. */
    readonly script: ScriptInput | string;
    /** Called once the run has started, for example to send it a message or to approve a call. */
    readonly during?: (run: RunHandle<Structured>) => Promise<void> | void;
    /** Time in which the run must end, in milliseconds. @default 60 s */
    readonly timeoutMs?: number;
    /** `host:port` of a Temporal server of your own. @default the server that all tests of the project share */
    readonly address?: string;
    /** Receives notices, such as the download of the Temporal server. @default console.log */
    readonly say?: (line: string) => void;
  };

/** What a tested run did. */
export interface TestedRun<Structured = JsonValue> {
  readonly result: TypedRunResult<Structured>;
  /** All messages, whole. */
  readonly transcript: readonly Message[];
  /** All events, oldest first. A run keeps the newest 1,000. */
  readonly events: readonly RunEvent[];
  /** Each start of a tool, in order. */
  readonly effects: readonly TestedCall[];
}
