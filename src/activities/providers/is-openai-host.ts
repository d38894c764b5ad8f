/** Where OpenAI's own models are served, by OpenAI and by Azure. */
const OPENAI_HOST = /(^|\.)openai\.(azure\.)?com$/u;

/** True for the servers that take all that OpenAI documents; imitations know less, and some refuse what they do not know. */
export function isOpenAiHost(baseUrl: string): boolean {
  return OPENAI_HOST.test(new URL(baseUrl).hostname);
}
