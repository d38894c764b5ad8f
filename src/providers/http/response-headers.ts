/** Where an answer says which request it is of: the APIs themselves, their clouds, a gateway. */
const REQUEST_ID = ['x-request-id', 'request-id', 'x-amzn-requestid', 'apim-request-id', 'x-litellm-call-id'];
/** LiteLLM passes the headers of the server behind it on under names of its own. */
const BEHIND = 'llm_provider-';
/** The names that the official SDKs read. */
const READ_AS = {
  'x-request-id': REQUEST_ID,
  'request-id': REQUEST_ID,
  'retry-after': ['retry-after'],
  'retry-after-ms': ['retry-after-ms'],
};

type Named = Pick<Headers, 'get'>;

/** The id that a server gave a request, or a gateway that tells none of its server; undefined when there is none. Never throws. */
export function requestIdIn(headers: Named): string | undefined {
  return headerValues(headers, REQUEST_ID);
}

/** The headers of an answer with what an SDK looks for under the name that it looks for. What an answer says itself is kept. */
export function answerHeaders(headers: Iterable<[string, string]>): Headers {
  const read = new Headers([...headers]);
  for (const [name, sources] of Object.entries(READ_AS)) {
    const value = headerValues(read, [name, ...sources]);
    if (value !== undefined) read.set(name, value);
  }
  return read;
}

/** The content types of an answer in lower case: its own, and that of the server behind a gateway where it tells it. */
export function contentTypesOf(headers: Named): readonly string[] {
  const types = [headers.get('content-type'), headers.get(`${BEHIND}content-type`)];
  return types.filter((type) => type !== null).map((type) => type.toLowerCase());
}

/** An answer's own header first, in the order of the names; then what a gateway repeats of the server behind it. */
function headerValues(headers: Named, names: readonly string[]): string | undefined {
  const all = [...names, ...names.map((name) => `${BEHIND}${name}`)];
  return all.map((name) => headers.get(name)).find((value) => value !== null && value !== '') ?? undefined;
}
