import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as limits from '../../src/contracts/constants/limits.js';
import { DEFAULT_POLICY } from '../../src/contracts/schemas/policy.js';
import { BudgetOptions, PolicyOptions } from '../../src/define/policy-options.js';
import { PresetName } from '../../src/define/presets.js';
import { OPENAI_CHAT_MODELS } from '../../src/models/catalog/openai.js';
import { modelFacts } from '../../src/models/model-facts.js';
import { KNOWN_PROVIDERS } from '../../src/providers/access/provider-catalog.js';
import { pageText, readPages, writtenPages } from './support/pages.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const KIB = 1_024;
const MIB = KIB * KIB;

const {
  ARTIFACT_LIMITS,
  CLIENT_LIMITS,
  COMPACTION_LIMITS,
  CONTINUE_AS_NEW_LIMITS,
  DECISION_LIMITS,
  FAILOVER_LIMITS,
  HOOK_LIMITS,
  HOSTING_LIMITS,
  LEDGER_LIMITS,
  LOOP_LIMITS,
  MODEL_LIMITS,
  OUTPUT_SCHEMA_LIMITS,
  PROMPT_LIMITS,
  SKILL_LIMITS,
  PAYLOAD_LIMITS,
  PROVIDER_LIMITS,
  READING_LIMITS,
  REDIS_STREAM_LIMITS,
  RUN_LIMITS,
  STEER_LIMITS,
  STREAM_LIMITS,
  TENANT_LIMITS,
  THINKING_LIMITS,
  TOOL_LIMITS,
  WORKER_LIMITS,
  WORKSPACE_LIMITS,
} = limits;

const [FIRST, SECOND_COOLDOWN, THIRD, LAST] = FAILOVER_LIMITS.cooldownsMs.map((ms) => ms / MINUTE);
const { minimal, low, medium, high } = THINKING_LIMITS.budgetTokens;

/** Known by name, each server once: the Responses API is OpenAI's too, and a script is no server. */
const PROVIDERS = Object.keys(KNOWN_PROVIDERS).filter((name) => name !== 'openai-responses' && name !== 'scripted');

/** What a page says with a number in it, made from the numbers of the code. */
const CLAIMS: Readonly<Record<string, readonly string[]>> = {
  'README.md': [
    `Perdure supports ${PROVIDERS.length} providers by name`,
    `after the heartbeat timeout of ${WORKER_LIMITS.heartbeatTimeoutMs / SECOND} s`,
    `Running calls get ${WORKER_LIMITS.shutdownGraceMs / SECOND} s to finish`,
    `${MODEL_LIMITS.attemptsMax} attempts, with Retry-After`,
    `the run waits up to ${RUN_LIMITS.modelUnreachableMsMax / MINUTE} minutes`,
    `After ${DECISION_LIMITS.approvalExpireMsDefault / DAY} days the call is denied`,
  ],
  'docs/architecture.md': [
    `at most ${RUN_LIMITS.workerLossesMax} times per call`,
    `has ${RUN_LIMITS.finalCallTimeoutMs / SECOND} s. \`finalized\``,
    `at most ${WORKER_LIMITS.heartbeatThrottleMsMax / SECOND} s late`,
  ],
  'docs/architecture/hosting.md': [
    `checks the ${grouped(HOSTING_LIMITS.checkedRunsMax)} newest runs`,
    `pauses of ${HOSTING_LIMITS.restartMsMin / SECOND} s to ${HOSTING_LIMITS.restartMsMax / SECOND} s`,
    `written every ${STREAM_LIMITS.coalesceMs} ms`,
    `above ${PAYLOAD_LIMITS.inlineBytesMax / MIB} MiB`,
    `once more after ${HOSTING_LIMITS.storeRecheckMs / SECOND} s`,
  ],
  'docs/architecture/ledgers.md': [
    `up to ${TENANT_LIMITS.checkedRunsMax} runs with a place every ${TENANT_LIMITS.checkEveryMs / SECOND} s`,
    `longer than ${TENANT_LIMITS.askAgainMs / MINUTE} minutes repeats it`,
    `for up to ${PROVIDER_LIMITS.holdMs / SECOND} s, until there is a place`,
    `so the ledger holds ${PROVIDER_LIMITS.heldRequestsMax}`,
    `at least every ${PROVIDER_LIMITS.leaseMs / PROVIDER_LIMITS.messagesPerLease / SECOND} s. After ${PROVIDER_LIMITS.leaseMs / SECOND} s of silence`,
    `continue as new after ${grouped(LEDGER_LIMITS.historyEventsMax)} events`,
  ],
  'docs/guides/limit-tenants.md': [
    `a lease of ${TENANT_LIMITS.leaseFraction * 100} % of the limit`,
    `the runs with a place every ${TENANT_LIMITS.checkEveryMs / SECOND} s`,
    `again within ${TENANT_LIMITS.askAgainMs / MINUTE} minutes`,
    `After ${PROVIDER_LIMITS.waitMsMax / MINUTE} minutes the call fails`,
    `are free after ${PROVIDER_LIMITS.leaseMs / SECOND} s`,
    `final answer has ${RUN_LIMITS.finalCallTimeoutMs / SECOND} s in all`,
  ],
  'docs/architecture/safeguards.md': [
    `hashes of the last ${LOOP_LIMITS.memoryTurns} turns`,
    `keeps the last ${grouped(CONTINUE_AS_NEW_LIMITS.seenIdsMax)} final states`,
  ],
  'docs/guides/approve-and-steer.md': [
    `The time to live is ${STEER_LIMITS.ttlMsMin / SECOND} s to ${STEER_LIMITS.ttlMsMax / DAY} days`,
    `A message is at most ${PAYLOAD_LIMITS.messageBytesMax / MIB} MiB`,
    `${DECISION_LIMITS.holdTtlMsDefault / MINUTE} minutes by default, ${DECISION_LIMITS.holdTtlMsMin / SECOND} s to a day`,
    `A cancel reaches a running call within ${WORKER_LIMITS.heartbeatThrottleMsMax / SECOND} s`,
    `(${DECISION_LIMITS.approvalExpireMsDefault / DAY} days by default, ${DECISION_LIMITS.approvalExpireMsMin / SECOND} s to ${DECISION_LIMITS.approvalExpireMsMax / DAY} days)`,
  ],
  'docs/guides/choose-models.md': [
    `\`GET /models\`, for ${FAILOVER_LIMITS.modelListTimeoutMs / SECOND} s`,
    `and so on up to ${FAILOVER_LIMITS.credentialsMax}`,
    `\`minimal\` ${grouped(minimal)}, \`low\` ${grouped(low)}, \`medium\` ${grouped(medium)}, \`high\` ${grouped(high)}, or the given number, at least ${grouped(THINKING_LIMITS.budgetTokensMin)}`,
    `An answer may have ${grouped(MODEL_LIMITS.outputTokensDefault)} tokens`,
    `after ${MODEL_LIMITS.streamIdleMs / SECOND} s without a byte, and after ${MODEL_LIMITS.turnTimeoutMs / MINUTE} minutes in total`,
  ],
  'docs/guides/stream-tokens.md': [
    `| \`ttlMs\` | ${REDIS_STREAM_LIMITS.ttlMsDefault / DAY} day |`,
    `| \`entriesMax\` | ${grouped(REDIS_STREAM_LIMITS.entriesMaxDefault)} |`,
    `the text of ${STREAM_LIMITS.coalesceMs} ms. ${grouped(REDIS_STREAM_LIMITS.entriesMaxDefault)} entries are ten minutes`,
    `at most ${STREAM_LIMITS.bufferedBytesMax / MIB} MiB for a run and ${STREAM_LIMITS.sinkBytesMax / MIB} MiB in total`,
    `waits at most ${REDIS_STREAM_LIMITS.flushMsMax / SECOND} s for its last tokens`,
    `does not answer for ${REDIS_STREAM_LIMITS.timeoutMs / SECOND} s`,
  ],
  'docs/guides/control-tool-calls.md': [
    `A gate function has ${HOOK_LIMITS.timeoutMsDefault / SECOND} s`,
    `\`timeoutMs\` (${HOOK_LIMITS.timeoutMsDefault / SECOND} s)`,
    `A lower \`priority\` (${HOOK_LIMITS.priorityDefault}) runs first`,
  ],
  'docs/guides/deploy.md': [
    `running calls get ${WORKER_LIMITS.shutdownGraceMs / SECOND} s to finish, and the worker stops within ${WORKER_LIMITS.shutdownForceMs / SECOND} s`,
    `up to ${WORKER_LIMITS.activitiesMax} activities`,
    `| \`perdure worker\` on an external server | ${HOSTING_LIMITS.supervisedHeartbeatTimeoutMs / SECOND} s |`,
    `\`createWorker\` on an external server | ${WORKER_LIMITS.heartbeatTimeoutMs / SECOND} s |`,
    `| embedded server | ${HOSTING_LIMITS.embeddedHeartbeatTimeoutMs / MINUTE} minutes |`,
    `Valid values are ${HOSTING_LIMITS.heartbeatTimeoutMsMin / SECOND} s to an hour`,
    `after ${HOSTING_LIMITS.restartMsMin / SECOND} s, then`,
    `up to ${HOSTING_LIMITS.restartMsMax / SECOND} s. It uses`,
    `payloads above ${PAYLOAD_LIMITS.inlineBytesMax / MIB} MiB`,
    `counts for up to ${HOSTING_LIMITS.pollerAgeMs / SECOND} s`,
    `One output may have up to ${ARTIFACT_LIMITS.bytesMax / KIB / MIB} GiB`,
    `at ${grouped(CONTINUE_AS_NEW_LIMITS.eventsMax)} events, ${CONTINUE_AS_NEW_LIMITS.historyBytesMax / MIB} MiB, ${grouped(CONTINUE_AS_NEW_LIMITS.signalsMax)} signals or ${grouped(CONTINUE_AS_NEW_LIMITS.updatesMax)} updates`,
    `No worker answered within ${CLIENT_LIMITS.queryTimeoutMs / SECOND} s`,
  ],
  'docs/guides/fail-over.md': [
    `at most ${FAILOVER_LIMITS.fallbacksMax} fallbacks, and ${FAILOVER_LIMITS.credentialsMax} keys`,
    `| ${MODEL_LIMITS.attemptsMax}, after Retry-After or the wait given in the body; 1 attempt if this wait is above ${MODEL_LIMITS.retryAfterMsMax / SECOND} s |`,
    `this model with this key: ${FIRST}, ${SECOND_COOLDOWN}, ${THIRD}, then ${LAST} minutes`,
    `this model with all its keys: ${FIRST}, ${SECOND_COOLDOWN}, ${THIRD}, then ${LAST} minutes`,
    `this key with all models: ${(FAILOVER_LIMITS.quotaCooldownsMs[0] ?? 0) / HOUR} hours, then a day`,
    `the run waits up to ${RUN_LIMITS.modelUnreachableMsMax / MINUTE} minutes`,
    `Of its ${RUN_LIMITS.finalCallTimeoutMs / SECOND} s`,
    `the last ${FAILOVER_LIMITS.switchesKept} changes`,
  ],
  'docs/guides/keep-runs-safe.md': [
    `\`maxTurns\` is ${RUN_LIMITS.maxTurnsDefault} unless`,
    `does not count as a turn, and has ${RUN_LIMITS.finalCallTimeoutMs / SECOND} s`,
    `| at the ${LOOP_LIMITS.alternationTurns}th turn | two turns later |`,
    `| at the ${LOOP_LIMITS.windowTurns}th turn | two turns later |`,
    `| at ${LOOP_LIMITS.ceilingNudgeTurns} turns | at ${LOOP_LIMITS.ceilingTurns} turns |`,
    `gets a correction, ${RUN_LIMITS.badJsonMax} times`,
    `repeated ${RUN_LIMITS.emptyStreamsMax} times, after half a second`,
    `sent back unchanged, ${RUN_LIMITS.pausedAnswersMax} times`,
    `after ${READING_LIMITS.nudgeAtTurns.join(', ').replace(/, (\d+)$/u, ' and $1')} such turns`,
    `It has ${HOOK_LIMITS.timeoutMsDefault / SECOND} s`,
    `It may have up to ${OUTPUT_SCHEMA_LIMITS.bytesMax / KIB} KiB`,
    `sent back at most ${RUN_LIMITS.gateAttemptsMax} times`,
    `runs at most ${RUN_LIMITS.callsPerAnswerMax} calls`,
  ],
  'docs/guides/manage-context.md': [
    `at least ${grouped(TOOL_LIMITS.outputCharsMin)} characters`,
    `up to ${TOOL_LIMITS.outputBytesCeiling / KIB} KiB`,
    `up to ${ARTIFACT_LIMITS.bytesMax / KIB / MIB} GiB`,
    `minus ${grouped(COMPACTION_LIMITS.reserveTokens)} tokens`,
    `at least ${COMPACTION_LIMITS.keepRecentMin} messages`,
    `cut at ${WORKSPACE_LIMITS.instructionFileBytesMax / 1_000} KB`,
  ],
  'docs/guides/run-from-a-service.md': [
    `throw \`NO_WORKER\` after ${CLIENT_LIMITS.queryTimeoutMs / SECOND} s`,
    `above ${CLIENT_LIMITS.inputBytesMax / MIB} MiB`,
  ],
  'docs/guides/write-agents.md': [
    `when a run starts, and has ${PROMPT_LIMITS.functionMsMax / SECOND} s`,
    `cut at ${grouped(PROMPT_LIMITS.bootstrapFileCharsMax)} characters, and all files together at ${grouped(PROMPT_LIMITS.bootstrapTotalCharsMax)}`,
  ],
  'docs/guides/add-skills.md': [`each cut at ${grouped(SKILL_LIMITS.expandedCharsMax)} characters`],
  'docs/guides/write-tools.md': [
    `\`timeoutMs\` is ${TOOL_LIMITS.timeoutMsDefault / SECOND} s by default and at most an hour`,
    `at most ${RUN_LIMITS.workerLossesMax} times`,
    `it has ${TOOL_LIMITS.reconcileTimeoutMs / SECOND} s`,
    `up to ${WORKER_LIMITS.heartbeatBytesMax / KIB} KiB of JSON`,
  ],
};

describe('guides and explanation', () => {
  let guides: string;
  beforeAll(() => {
    guides = readPages('docs/guides')
      .map(({ text }) => text)
      .join('\n');
  });

  it('name every option of the policy', () => {
    const options = [...optionsOf('', PolicyOptions), ...optionsOf('budget', BudgetOptions)];
    expect(options.length).toBeGreaterThan(25);
    expect(options.filter((option) => !new RegExp(`\`${option.replaceAll('.', '\\.')}\\b`, 'u').test(guides))).toEqual([]);
  });

  it('the number in brackets behind an option is its default', () => {
    const shown = [...guides.matchAll(/`(?<option>[\w.]+)`\s\((?<number>[\d.,]+)\)/gu)].flatMap(({ groups }) => {
      const option = groups?.['option'] ?? '';
      return option === 'priority' ? [] : [[option, Number(groups?.['number']?.replaceAll(',', ''))] as const];
    });
    expect(shown.length).toBeGreaterThan(9);
    expect(shown.map(([option]) => [option, defaultOf(option)])).toEqual(shown);
  });

  it.each(Object.entries(CLAIMS))('%s: its numbers are those of the code', (path, claims) => {
    const text = pageText(path).replaceAll(/\s+/gu, ' ');
    expect(claims.filter((claim) => !text.includes(claim))).toEqual([]);
  });

  it('name every preset', () => {
    expect(PresetName.options.filter((name) => !guides.includes(`\`${name}\``))).toEqual([]);
  });

  it('name only models that are known, as the other pages do', () => {
    const text = writtenPages()
      .map((page) => page.text)
      .join('\n');
    const names = [...text.matchAll(/\b(?<name>(?:openai|openai-responses|anthropic)\/(?:gpt|claude)-[\w.-]*\w)/gu)].map(
      ({ groups }) => groups?.['name'] ?? '',
    );
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => modelFacts(name).price === undefined)).toEqual([]);
  });

  it('say from which model on the chat API of OpenAI has no thinking', () => {
    expect(guides.replaceAll(/\s+/gu, ' ')).toContain('models from `gpt-5.4` on support only the level `off`');
    const without = Object.keys(OPENAI_CHAT_MODELS).filter((name) => OPENAI_CHAT_MODELS[name]?.thinkingLevels?.join() === 'off');
    expect(without).toContain('gpt-5.4');
    expect(without.filter((name) => /^gpt-5(?:\.[0-3])?(?:-|$)/u.test(name))).toEqual([]);
  });
});

/** As pages write numbers. */
function grouped(number: number): string {
  return number.toLocaleString('en');
}

function defaultOf(option: string): unknown {
  return option
    .split('.')
    .reduce<unknown>((group, name) => (typeof group === 'object' && group !== null ? Reflect.get(group, name) : undefined), DEFAULT_POLICY);
}

function optionsOf(path: string, group: z.ZodObject): string[] {
  return Object.entries(group.shape).flatMap(([name, field]) => {
    const here = path === '' ? name : `${path}.${name}`;
    const inner = field instanceof z.ZodOptional ? field.unwrap() : field;
    // what has exactly two parts is written with them in braces
    const isWritten = here === 'autoExtend' || here === 'output.exact';
    return inner instanceof z.ZodObject && !isWritten ? optionsOf(here, inner) : [here];
  });
}
