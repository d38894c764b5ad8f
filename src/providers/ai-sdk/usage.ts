import { z } from 'zod';
import type { Usage } from '../../contracts/schemas/model.js';
import { reportedUsage } from '../transcript/usage.js';
import { aiSdkFamily } from './family.js';
import type { AiSdkModel, AiSdkPart } from './model.js';

/** Since version 3 the counts stand under input and output. */
const Counts = z.object({
  inputTokens: z.object({ total: z.unknown().optional(), cacheRead: z.unknown().optional(), cacheWrite: z.unknown().optional() }),
  outputTokens: z.object({ total: z.unknown().optional(), reasoning: z.unknown().optional() }),
});

/** Version 2 counts flat. */
const FlatCounts = z.object({
  inputTokens: z.number(),
  outputTokens: z.unknown().optional(),
  cachedInputTokens: z.number().optional(),
  reasoningTokens: z.unknown().optional(),
});

/** What a provider tells of its cache in its own words. */
const CacheWrites = z.object({ cacheCreationInputTokens: z.number() });

/** What the end of an answer says of its tokens; undefined when it says nothing, or nonsense. Never throws. */
export function aiSdkUsage(
  { usage, providerMetadata }: Extract<AiSdkPart, { type: 'finish' }>,
  { provider }: Pick<AiSdkModel, 'provider'>,
): Usage | undefined {
  const counts = Counts.safeParse(usage).data;
  if (counts) {
    const { inputTokens, outputTokens } = counts;
    const { cacheRead, cacheWrite } = inputTokens;
    return reportedUsage({
      input: inputTokens.total,
      output: outputTokens.total,
      cacheRead,
      cacheWrite,
      reasoning: outputTokens.reasoning,
    });
  }
  const flat = FlatCounts.safeParse(usage).data;
  if (!flat) return undefined;
  const { name, countsInputWithoutCache } = aiSdkFamily(provider);
  const { inputTokens, outputTokens, cachedInputTokens: cacheRead = 0, reasoningTokens } = flat;
  const { cacheCreationInputTokens: cacheWrite = 0 } = CacheWrites.safeParse(providerMetadata?.[name]).data ?? {};
  const input = countsInputWithoutCache ? inputTokens + cacheRead + cacheWrite : inputTokens;
  return reportedUsage({ input, output: outputTokens, cacheRead, cacheWrite, reasoning: reasoningTokens });
}
