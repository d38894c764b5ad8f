import { echoValue } from '../../../contracts/text/echo-value.js';
import type { Config } from '../../../define/define-config.js';
import { baseUrlProblem } from '../../../providers/http/base-url.js';

/** The problems of channels beyond their schema: agents that do not exist, addresses that cannot be used, sizes that contradict each other. */
export function channelProblems({ channels = {}, agents = {} }: Config): string[] {
  return Object.entries(channels).flatMap(([name, channel]) => {
    const { agent, apiUrl, blocks = {}, pause } = channel;
    const path = `channels.${name}`;
    const address = apiUrl === undefined ? undefined : baseUrlProblem(apiUrl, channel);
    const isUnknown = agent !== undefined && agent !== 'default' && !Object.hasOwn(agents, agent);
    const isCrossed = blocks.charsMin !== undefined && blocks.charsMax !== undefined && blocks.charsMin > blocks.charsMax;
    return [
      ...(isUnknown ? [`${path}.agent: no agent ${echoValue(agent)}`] : []),
      ...(address === undefined ? [] : [`${path}.apiUrl: ${address}`]),
      ...(isCrossed ? [`${path}.blocks.charsMin: at most charsMax, ${blocks.charsMax}`] : []),
      ...(pause && pause.minMs > pause.maxMs ? [`${path}.pause.minMs: at most maxMs, ${pause.maxMs}`] : []),
    ];
  });
}
