/** The list of models of a server: one GET below its base address. */
export interface ModelList {
  /** Below the base address; it may have a query. */
  readonly path: string;
  /** Sent beside the key. @default none */
  readonly headers?: Readonly<Record<string, string>>;
  /** The ids in the parsed answer; undefined when it is no list of models. Never throws. */
  ids(answer: unknown): readonly string[] | undefined;
}

/**
 * The ids in `{ data: [{ id }] }`, or in the array alone, as some servers send it. Gemini's ids begin with `models/`, which its chat leaves
 * out. Undefined when the answer has no array. Never throws.
 */
export function modelIds(answer: unknown): readonly string[] | undefined {
  const data: unknown = typeof answer === 'object' && answer !== null && 'data' in answer ? answer.data : answer;
  if (!Array.isArray(data)) return undefined;
  return data.flatMap((model: unknown) => {
    const id = typeof model === 'object' && model !== null && 'id' in model ? model.id : undefined;
    return typeof id === 'string' ? [id.replace(/^models\//u, '')] : [];
  });
}
