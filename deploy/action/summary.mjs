// The summary of the step, in Markdown. Text from files stands in it as text.

const MAX_BATCHES = 20;
const MAX_CHARACTERS = 20_000;

/** Shown by Markdown and HTML as it is, in one line. */
const shown = (text) =>
  String(text)
    .slice(0, MAX_CHARACTERS)
    .replace(/[&<>"'`*_[\]|\\~#@]/g, (char) => `&#${char.charCodeAt(0)};`)
    .replace(/\s+/g, ' ');

/** A block of text with its lines. */
const block = (text) =>
  `<pre>\n${text
    .slice(0, MAX_CHARACTERS)
    .replace(/[&<>]/g, (char) => `&#${char.charCodeAt(0)};`)
    // An empty line would end the block.
    .replace(/\n\s*\n/g, '\n&#8203;\n')}\n</pre>\n`;

const TITLES = {
  ok: 'Every advantage is right',
  wrong: 'Advantages are wrong',
  unproven: 'Nothing is wrong, but not everything was verified',
  unreadable: 'Not verified',
};

/** Title, counts, the first wrong row with its explanation, and the batches that are not ok. */
export function summaryOf({ batches, firstWrong, outcome, counts }) {
  const lines = [
    `## ${TITLES[outcome]}`,
    '',
    '| batches | rows | exact | rounding | wrong | unverifiable |',
    '| --- | --- | --- | --- | --- | --- |',
    `| ${[batches.length, ...Object.values(counts)].map((n) => n.toLocaleString('en-US')).join(' | ')} |`,
    '',
  ];
  if (firstWrong) {
    const cause = firstWrong.explanation.likelyCause;
    lines.push(`The first wrong row is row ${firstWrong.row} of ${shown(firstWrong.batch)}.`, '');
    if (cause) lines.push(`**Likely cause:** ${shown(cause)}.`, '');
    lines.push('<details><summary>Explanation</summary>', '', block(firstWrong.text), '</details>', '');
  }
  const notOk = batches.filter(({ ok, consistent }) => !ok && !consistent);
  for (const { name, wrong, findings } of notOk.slice(0, MAX_BATCHES))
    lines.push(`- ${shown(name)}: ${wrong} wrong; ${shown(findings.map(({ code }) => code).join(', '))}`);
  if (notOk.length > MAX_BATCHES) lines.push(`- and ${notOk.length - MAX_BATCHES} more`);
  return `${lines.join('\n')}\n`;
}
