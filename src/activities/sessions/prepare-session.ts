import type { AgentActivities } from '../../contracts/activities.js';
import type { PrepareSessionInput, PrepareSessionResult } from '../../contracts/schemas/session.js';
import { SessionInput } from '../../contracts/schemas/session.js';
import { didYouMean } from '../../contracts/text/did-you-mean.js';
import type { Config } from '../../define/define-config.js';
import type { Authenticate } from '../prepare/authenticate.js';
import { DEFAULT_AGENT } from '../prepare/find-agent.js';
import { messageOf } from '../runtime/failures.js';
import { startsProcess } from '../subagents/delegation.js';

/** The dependencies of the activity. */
export interface PrepareSessionOptions {
  readonly config: Config;
  /** Checks the signature of a start. Absent: unsigned ones are taken. */
  readonly authenticate?: Authenticate;
  readonly searchAttributes: readonly string[];
}

/**
 * Makes the activity `prepareSession`: validates the input of a session, which may come from any client, and resolves the options of its
 * queue. A session whose runs have rights of this worker's user needs a signature of its start.
 */
export function createPrepareSession(options: PrepareSessionOptions): AgentActivities['prepareSession'] {
  return async (request) => await prepare(request, options);
}

async function prepare(request: PrepareSessionInput, options: PrepareSessionOptions): Promise<PrepareSessionResult> {
  const input = readInput(request.input);
  if ('problem' in input) return input;
  const { config, authenticate, searchAttributes } = options;
  const signed = authenticate !== undefined && hasRightsOfWorker(input, config);
  const problem = signed ? await startProblem(request, authenticate) : undefined;
  if (problem !== undefined) return { problem };
  const { channels = {}, ...queue } = config.sessions ?? {};
  const ofChannel = input.channel !== undefined && Object.hasOwn(channels, input.channel) ? channels[input.channel] : undefined;
  return { ...(signed ? { signed } : {}), queue: { ...queue, ...ofChannel }, searchAttributes };
}

/** The input, or all its problems in one line. */
function readInput(given: unknown): SessionInput | { readonly problem: string } {
  try {
    const parsed = SessionInput.safeParse(given);
    if (parsed.success) return parsed.data;
    const issues = parsed.error.issues.flatMap((issue) => {
      if (issue.code !== 'unrecognized_keys') return [`${issue.path.join('.') || 'input'}: ${issue.message}`];
      const known = issue.path.length === 0 ? Object.keys(SessionInput.shape) : [];
      return issue.keys.map((key) => `${[...issue.path, key].join('.')}: unknown${didYouMean(key, known)}`);
    });
    return { problem: `BAD_INPUT ${issues.join('; ')}` };
  } catch (error) {
    // deeply nested JSON overflows the stack
    return { problem: `BAD_INPUT input: cannot be read: ${messageOf(error)}` };
  }
}

/** True for a session whose runs work on a folder, or are child processes. An agent that is not known yet may become one. */
function hasRightsOfWorker({ agent: name = 'default', defaults }: SessionInput, config: Config): boolean {
  if (defaults?.context?.workspace !== undefined) return true;
  const { agents = {} } = config;
  const agent = Object.hasOwn(agents, name) ? agents[name] : name === 'default' ? DEFAULT_AGENT : undefined;
  return agent === undefined || startsProcess(agent, config);
}

/** Checks the signature of the start. A history that continues a session has none to check. */
async function startProblem({ sessionId, input, started }: PrepareSessionInput, authenticate: Authenticate): Promise<string | undefined> {
  if (!started) return undefined;
  const use = `start ${sessionId} ${started.executionId}`;
  return await authenticate({ verb: 'start', runId: sessionId, input, auth: input.auth, use }, Date.parse(started.at));
}
