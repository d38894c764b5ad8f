import { proseOf } from './markdown-blocks.js';

const OPENING = String.raw`(?:(?:ok(?:ay)?|al(?:l )?right|great|good|sure|perfect|now|next|first|then|so|and|finally|also)[,.!:]?\s+){0,3}`;
const INTENT = String.raw`(?:let me|let['’]?s|let us|i['’]?ll|i will|i['’]?m going to|i am going to|i['’]?m about to|i am about to|i need to|i['’]m now|i am now)\s+`;
const ADVERB = String.raw`(?:(?:now|first|next|then|just|also|quickly|start by|begin by|go ahead and|continue to|proceed to|try to|need to|have to)\s+){0,3}`;
/** Stems of work that only a tool can do. */
const WORK = [
  'appl[yi]|analy[sz]|build|call|check|creat|delet|dig into|edit|examin|execut|explor|fetch|find|fix|gather|implement|inspect|install',
  'investigat|list|look|modif|move on|open|proceed|continu|quer[yi]|read|refactor|remov|retriev|review|run|scan|search|start|begin|get started',
  'take a (?:closer |quick )?look|test|updat|verif|work on|writ|add(?!\\s+that\\b)|make (?:the|this|that|these|those) (?:change|edit|fix|update)',
].join('|');

const ANNOUNCEMENT = new RegExp(`^${OPENING}${INTENT}${ADVERB}(?:${WORK})[a-z]*\\b`, 'iu');

/** Words that leave the next step to the reader, or to a later time. */
const FOR_THE_READER =
  /\?$|\b(?:you|once|whenever|unless|as soon as|approval|approve|confirm|confirmation|permission|go-ahead|feedback)\b/iu;

/** The number of characters read from the end. A longer sentence is no announcement. */
const ENDING_CHARS_READ = 500;

/**
 * True for a text whose last sentence announces work ("Let me check the file."), without a condition or a question to the reader. A text
 * that ends with a code block is no announcement. English only; never throws.
 */
export function announcesWork(text: string): boolean {
  const sentence = lastSentence(text);
  return ANNOUNCEMENT.test(sentence) && !FOR_THE_READER.test(sentence.replaceAll(/\bfor you\b/giu, ''));
}

function lastSentence(text: string): string {
  const end = proseOf(text).trimEnd().slice(-ENDING_CHARS_READ);
  const lastLine = end.split('\n').at(-1) ?? '';
  const sentence = lastLine.split(/(?<=[.!?…:])\s+/u).at(-1) ?? '';
  return sentence.replaceAll(/^[\s*_#>-]+|[\s*_]+$/gu, '');
}
