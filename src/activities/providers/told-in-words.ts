import type { ModelFailureType } from '../../providers/contract/model-error.js';
import { OVERFLOW_PATTERNS, RATE_OVERFLOW_PATTERNS } from '../../providers/errors/error-patterns.js';
import { BAD_JSON_PATTERNS } from './bad-json-patterns.js';
import { REFUSED_CONTENT_PATTERNS } from './refused-content-patterns.js';
import { REFUSED_KEY_PATTERNS } from './refused-key-patterns.js';
import { SPENT_QUOTA_PATTERNS } from './spent-quota-patterns.js';

interface Telling {
  readonly patterns: readonly RegExp[];
  readonly type: ModelFailureType;
  /** With any other status the words are by the way; undefined stands for an error told within a stream. */
  readonly statuses: readonly (number | undefined)[];
}

/** Statuses of a request that cannot be done, and that of servers which tell of any fault by it. */
const REFUSALS = [undefined, 400, 413, 422, 500];

/** The first that says it counts. */
const TELLINGS: readonly Telling[] = [
  { patterns: BAD_JSON_PATTERNS, type: 'Model.BadJson', statuses: REFUSALS },
  { patterns: OVERFLOW_PATTERNS, type: 'Model.ContextOverflow', statuses: REFUSALS },
  { patterns: RATE_OVERFLOW_PATTERNS, type: 'Model.ContextOverflow', statuses: [undefined, 429] },
  { patterns: SPENT_QUOTA_PATTERNS, type: 'Model.Quota', statuses: [undefined, 400, 403, 429] },
  { patterns: REFUSED_CONTENT_PATTERNS, type: 'Model.ContentFilter', statuses: [undefined, 400, 403] },
  { patterns: REFUSED_KEY_PATTERNS, type: 'Model.Auth', statuses: [400] },
];

/** What a server's words tell of that its status does not; undefined where they tell nothing. Never throws. */
export function toldInWords(message: string, status: number | undefined): ModelFailureType | undefined {
  return TELLINGS.find(({ patterns, statuses }) => statuses.includes(status) && patterns.some((pattern) => pattern.test(message)))?.type;
}
