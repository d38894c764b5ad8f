/**
 * Converts Markdown to the markup of Slack, for what models write often: bold, strikethrough, headings and links. Code stays as it is. All of
 * the text is escaped first, so that it mentions nobody: `<!channel>` is shown as text. Never throws.
 */
export function slackText(markdown: string): string {
  const escaped = markdown.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return escaped
    .split(/(?<code>^[ \t]*```[^]*?^[ \t]*```[ \t]*$|`[^`\n]+`)/mu)
    .map((part, index) => (index % 2 === 1 ? part : converted(part)))
    .join('');
}

function converted(text: string): string {
  return text
    .replaceAll(/^[ ]{0,3}#{1,6}[ \t]+(?<title>[^\n]+?)[ \t#]*$/gmu, (_, title: string) => `*${title.replaceAll('**', '')}*`)
    .replaceAll(/^&gt; ?/gmu, '> ')
    .replaceAll(/\*\*(?<bold>[^*\n]+)\*\*/gu, '*$<bold>*')
    .replaceAll(/~~(?<struck>[^~\n]+)~~/gu, '~$<struck>~')
    .replaceAll(/\[(?<label>[^\]\n|]+)\]\((?<url>https?:\/\/[^\s()|]+)\)/gu, '<$<url>|$<label>>');
}
