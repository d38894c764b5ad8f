import { ModelError } from '../contract/model-error.js';
import { baseUrlProblem } from '../http/base-url.js';

/** The fields of a cloud's definition that decide its address. */
interface CloudPlace {
  readonly region: string;
  readonly baseUrl?: string | undefined;
  readonly allowInsecure?: boolean | undefined;
}

/** The address of Bedrock: the definition's, else the region's. Throws `Model.BadRequest` for a bad region or address. */
export function bedrockUrl(place: CloudPlace): string {
  return cloudUrl(place, (region) => `https://bedrock-runtime.${region}.amazonaws.com`);
}

/** The address of Vertex AI: the definition's, else the region's. Throws `Model.BadRequest` for a bad region or address. */
export function vertexUrl(place: CloudPlace): string {
  return cloudUrl(place, (region) => {
    if (region === 'global') return 'https://aiplatform.googleapis.com/v1';
    if (region === 'us' || region === 'eu') return `https://aiplatform.${region}.rep.googleapis.com/v1`;
    return `https://${region}-aiplatform.googleapis.com/v1`;
  });
}

function cloudUrl({ region, baseUrl, allowInsecure }: CloudPlace, regionUrl: (region: string) => string): string {
  // the region becomes a part of a host name
  if (!/^[a-z0-9-]+$/u.test(region)) throw new ModelError('Model.BadRequest', `BAD_REGION ${JSON.stringify(region.slice(0, 80))}`);
  if (baseUrl === undefined) return regionUrl(region);
  const problem = baseUrlProblem(baseUrl, { allowInsecure });
  if (problem) throw new ModelError('Model.BadRequest', `BAD_BASE_URL: ${problem}`);
  return baseUrl;
}
