/**
 * How servers say with the status of a refused key that it is the content they refuse: data, since the texts change. The key is good
 * for anything else.
 */
export const REFUSED_CONTENT_PATTERNS: readonly RegExp[] = [
  // xAI
  /content violates usage guidelines/iu,
  // OpenRouter
  /requires moderation on .{0,80}your input was flagged/iu,
];
