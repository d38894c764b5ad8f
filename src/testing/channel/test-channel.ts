import { CHANNEL_CLAIMS, type ChannelClaim } from './channel-claims.js';
import type { TestedPlatform } from './tested-platform.js';

/** What `testChannel` found. */
export interface ChannelReport {
  /** The claims that are true. */
  readonly passed: readonly string[];
  /** The claims that do not concern the channel, with the reason. */
  readonly leftOut: Readonly<Record<string, string>>;
}

/** The claims that are not true of a channel, with the reasons. Thrown by `testChannel`. */
export class ChannelTestError extends Error {
  override readonly name = 'ChannelTestError';
  readonly failures: readonly { readonly claim: string; readonly message: string }[];

  constructor(failures: ChannelTestError['failures']) {
    super(failures.map(({ claim, message }) => `${claim}: ${message}`).join('\n'));
    this.failures = failures;
  }
}

/**
 * Tests that a channel keeps the contract of `Channel` in `perdure/channels`, each claim against a platform of its own. Throws
 * ChannelTestError with all claims that are not true.
 *
 * @param makePlatform starts a platform, mostly a local server. Called once for each claim
 */
export async function testChannel(makePlatform: () => Promise<TestedPlatform>): Promise<ChannelReport> {
  const passed: string[] = [];
  const leftOut: Record<string, string> = {};
  const failures: { claim: string; message: string }[] = [];
  for (const claim of CHANNEL_CLAIMS) {
    const found = await testClaim(claim, makePlatform);
    if (found === 'passed') passed.push(claim.title);
    else if ('leftOut' in found) leftOut[claim.title] = found.leftOut;
    else failures.push({ claim: claim.title, message: found.message });
  }
  if (failures.length > 0) throw new ChannelTestError(failures);
  return { passed, leftOut };
}

async function testClaim(
  claim: ChannelClaim,
  makePlatform: () => Promise<TestedPlatform>,
): Promise<'passed' | { readonly leftOut: string } | { readonly message: string }> {
  const platform = await makePlatform();
  try {
    const why = claim.leftOut?.(platform);
    if (why !== undefined) return { leftOut: why };
    await claim.check(platform);
    return 'passed';
  } catch (error) {
    return { message: error instanceof Error ? error.message : String(error) };
  } finally {
    await platform.close();
  }
}
