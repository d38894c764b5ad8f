const DISCOUNT_FROM = 10;
const DISCOUNT_PERCENT = 15;

/** What an order costs, in cents. */
export function price(pieces, centsEach) {
  const full = pieces * centsEach;
  return pieces > DISCOUNT_FROM ? (full * (100 - DISCOUNT_PERCENT)) / 100 : full;
}
