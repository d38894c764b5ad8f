// Reads the reports of vitest (JUnit).

/** The tests of each file of a report: their titles, how they ended, and of one that failed the first line of its message. */
export function readSuites(xml) {
  const found = new Map();
  for (const [, file, body] of xml.matchAll(/<testsuite name="([^"]*)"[^>]*>([\s\S]*?)<\/testsuite>/gu)) {
    const tests = [...body.matchAll(/<testcase [^>]*? name="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/gu)];
    found.set(
      file,
      tests.map(([, name, inner = '']) => ({ name: plain(name), ...endOf(inner) })),
    );
  }
  return found;
}

function endOf(inner) {
  const failure = /<(?:failure|error)(?: message="([^"\n]*))?/u.exec(inner);
  if (failure) return { state: 'failed', message: plain(failure[1] ?? '') };
  return { state: inner.includes('<skipped') ? 'skipped' : 'passed' };
}

function plain(text) {
  return text.replaceAll('&gt;', '>').replaceAll('&lt;', '<').replaceAll('&apos;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}
