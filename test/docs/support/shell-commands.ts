/** The commands of a block of shell code, each as its words: without variables set before it, words of a loop, redirections and comments. */
export function shellCommands(code: string): string[][] {
  const commands: string[][] = [[]];
  let word: string | undefined;
  const endWord = (): void => {
    if (word !== undefined) commands.at(-1)?.push(word);
    word = undefined;
  };
  const endCommand = (): void => {
    endWord();
    commands.push([]);
  };
  for (let at = 0; at < code.length; at += 1) {
    const char = code.charAt(at);
    if (char === "'" || char === '"') {
      const end = code.indexOf(char, at + 1);
      if (end === -1) throw new Error(`a quote that does not end: ${code.slice(at)}`);
      word = (word ?? '') + code.slice(at + 1, end);
      at = end;
    } else if (char === '#' && word === undefined) {
      const end = code.indexOf('\n', at);
      at = end === -1 ? code.length : end - 1;
    } else if (/[;&|\n]/u.test(char)) endCommand();
    else if (/\s/u.test(char)) endWord();
    else word = (word ?? '') + char;
  }
  endCommand();
  return commands.map(withoutRedirections).filter((words) => words.length > 0);
}

function withoutRedirections(words: readonly string[]): string[] {
  const first = words.findIndex((word) => !/^(?:[A-Z_]+=.*|until|do|done)$/u.test(word));
  const named = first === -1 ? [] : words.slice(first);
  return named.filter((word, index) => !isRedirection(word) && !isRedirection(named[index - 1]));
}

function isRedirection(word: string | undefined): boolean {
  return word !== undefined && /^\d?>$/u.test(word);
}
