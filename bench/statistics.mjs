/** The middle value. */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** What of a series of turns counts: their median, and how the last twenty compare to the first twenty. */
export function summarizeTurns(requestTimes) {
  const times = turnTimes(requestTimes);
  const first20 = mean(times.slice(0, 20));
  const last20 = mean(times.slice(-20));
  return {
    msPerTurn: median(times),
    meanMsPerTurn: round(mean(times)),
    first20: round(first20),
    last20: round(last20),
    growth: round(last20 / first20),
  };
}

/** How long some work takes in ms: the first time, and then the median and the worst of `times` more. */
export function timesOf(work, times) {
  const measure = () => {
    const startedAt = performance.now();
    work();
    return performance.now() - startedAt;
  };
  const first = measure();
  const others = Array.from({ length: times }, measure);
  return { first: round(first), median: round(median(others)), worst: round(Math.max(...others)) };
}

/** Two digits after the point. */
export function round(value) {
  return Math.round(value * 100) / 100;
}

/** The time of each turn: from one request to the next. */
function turnTimes(requestTimes) {
  return requestTimes.slice(1).map((at, index) => at - requestTimes[index]);
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
