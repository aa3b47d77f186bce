// The step of the action: verifies, annotates the pull request, and writes the summary, the outputs and the badge. Plain JavaScript
// without packages, because it runs on the Node of the runner. Exit status: 1 if a row or a batch is wrong, 2 if a file cannot be read.
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join, relative } from 'node:path';
import { badgeOf, countsOf, outcomeOf, worstOf } from './outcome.mjs';
import { summaryOf } from './summary.mjs';

const {
  ECHELON_PATH = '',
  ECHELON_REPORT = '',
  ECHELON_ARGUMENTS = '',
  ECHELON_PROGRAM = '',
  ECHELON_BADGE = '',
  ECHELON_MINUTES = '60',
  GITHUB_OUTPUT,
  GITHUB_STEP_SUMMARY,
  GITHUB_WORKSPACE = process.cwd(),
  RUNNER_TEMP = tmpdir(),
} = process.env;

const folder = join(RUNNER_TEMP, 'advantage-verification');

/** Text of files and programs: the runner must not obey commands in it. */
function printForeign(text) {
  if (text.trim() === '') return;
  const token = randomUUID();
  process.stdout.write(`::stop-commands::${token}\n${text.trimEnd()}\n::${token}::\n`);
}

const escapeData = (text) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
const escapeProperty = (text) => escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

/** An annotation, at a file if there is one. */
function annotate(level, message, { file, title }) {
  const path = file && isAbsolute(file) ? relative(GITHUB_WORKSPACE, file) : file;
  const properties = Object.entries({ file: path, title })
    .filter(([, value]) => value)
    .map(([name, value]) => `${name}=${escapeProperty(value)}`)
    .join(',');
  process.stdout.write(`::${level} ${properties}::${escapeData(message)}\n`);
}

/** Runs the verifier on the paths; what it says as JSON, and its exit status. */
function verifyPaths(paths) {
  // The program and the options are of the workflow's author; the paths are passed as they are, and none is an option.
  const script = `${ECHELON_PROGRAM} verify --json --html "$0" ${ECHELON_ARGUMENTS} -- "$@"`;
  const { status, stdout, stderr, error } = spawnSync(
    'sh',
    ['-c', script, join(folder, 'report.html'), ...paths],
    {
      encoding: 'utf8',
      maxBuffer: 2 ** 30,
      timeout: Number(ECHELON_MINUTES) * 60_000,
      killSignal: 'SIGKILL',
    },
  );
  printForeign(stderr ?? '');
  if (error?.code === 'ETIMEDOUT') {
    annotate('error', `The verification took more than ${ECHELON_MINUTES} minutes.`, {
      title: 'Not verified',
    });
    return { status: 2, batches: [] };
  }
  if (error) throw error;
  try {
    return { status, ...JSON.parse(stdout) };
  } catch {
    printForeign(stdout);
    // The verifier itself ends with 2 if there is nothing to print. A shell or npx that does not find it ends otherwise.
    return { status: 2, batches: [], ...(status === 2 ? {} : { failed: status }) };
  }
}

/** The report of the pytest plugin in the same form, without batches whose fault a test expects. */
function readReport(file) {
  const { batches, gaps = [] } = JSON.parse(readFileSync(file, 'utf8'));
  const own = batches.filter(({ expected }) => !expected);
  const wrong = own.find((batch) => batch.wrong > 0);
  const isUnproven = gaps.length > 0 || own.some(({ ok }) => !ok);
  return {
    status: own.some(({ ok, consistent }) => !ok && !consistent) ? 1 : isUnproven ? 3 : 0,
    batches: own.map((batch) => ({ file: batch.test?.split('::')[0], ...batch })),
    gaps,
    ...(wrong && {
      firstWrong: {
        file: wrong.test?.split('::')[0],
        batch: wrong.test ? `${wrong.name} in ${wrong.test}` : wrong.name,
        row: wrong.wrongRows[0],
        explanation: { likelyCause: wrong.likelyCause ?? null },
        text: wrong.explanation ?? '',
      },
    }),
  };
}

function annotateAll({ batches, firstWrong, gaps, outcome, failed }) {
  if (firstWrong) {
    const { file, batch, row, explanation } = firstWrong;
    const values =
      explanation.reported === undefined
        ? 'is wrong'
        : `reports ${explanation.reported}, true is ${explanation.true}`;
    const cause = explanation.likelyCause ? ` Likely cause: ${explanation.likelyCause}.` : '';
    annotate('error', `Row ${row} of ${batch} ${values}.${cause}`, { file, title: 'Wrong advantage' });
  } else if (outcome === 'wrong') {
    const { file, name, finding } = worstOf(batches);
    annotate('error', `${name}: ${finding?.message ?? 'not ok'}`, { file, title: 'Advantages not ok' });
  }
  if (failed !== undefined)
    annotate(
      'error',
      `The verifier did not run: \`${ECHELON_PROGRAM}\` ended with ${failed} and without a report. Install it in an earlier step, and name its command in the input program.`,
      { title: 'Not verified' },
    );
  else if (outcome === 'unreadable')
    annotate('error', 'A file cannot be read, or there is nothing to verify.', { title: 'Not verified' });
  if (outcome === 'unproven')
    annotate('warning', 'Nothing is wrong, but not everything could be verified.', { title: 'Not verified' });
  if (gaps.length > 0)
    annotate('warning', `${gaps.length} batches were not verified: ${gaps[0].reason}`, {
      title: 'Not verified',
    });
}

function write(found) {
  writeFileSync(
    join(folder, 'report.json'),
    JSON.stringify({ batches: found.batches, firstWrong: found.firstWrong }),
  );
  if (found.firstWrong) writeFileSync(join(folder, 'explanation.txt'), found.firstWrong.text);
  if (ECHELON_BADGE) writeFileSync(ECHELON_BADGE, `${JSON.stringify(badgeOf(found))}\n`);
  if (GITHUB_STEP_SUMMARY) appendFileSync(GITHUB_STEP_SUMMARY, summaryOf(found));
  const { rows, wrong } = found.counts;
  if (GITHUB_OUTPUT)
    appendFileSync(
      GITHUB_OUTPUT,
      `outcome=${found.outcome}\nrows=${rows}\nrows-wrong=${wrong}\nfolder=${folder}\n`,
    );
}

mkdirSync(folder, { recursive: true });
const paths = ECHELON_PATH.split('\n')
  .map((path) => path.trim())
  .filter((path) => path !== '');
const parts = [
  ...(paths.length > 0 ? [verifyPaths(paths)] : []),
  ...(ECHELON_REPORT ? [readReport(ECHELON_REPORT)] : []),
];
const batches = parts.flatMap((part) => part.batches);
const found = {
  batches,
  gaps: parts.flatMap(({ gaps = [] }) => gaps),
  firstWrong: parts.find(({ firstWrong }) => firstWrong)?.firstWrong,
  outcome: outcomeOf(parts),
  failed: parts.find(({ failed }) => failed !== undefined)?.failed,
  counts: countsOf(batches),
};
annotateAll(found);
write(found);
printForeign(found.firstWrong?.text ?? '');
process.exitCode = { ok: 0, unproven: 0, wrong: 1, unreadable: 2 }[found.outcome];
