// Runs the commands of the set-up, several at a time, and reports their progress. Plain JavaScript, see ../setup.mjs.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The checkout, without a slash at the end. */
export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** A set-up step that failed: the message says what to do, and needs no stack. */
export class SetupError extends Error {}

/** Prints a line of the set-up. */
export const say = (text) => process.stderr.write(`setup: ${text}\n`);

/** Runs a command in the checkout. Its output appears only if it fails: other steps run at the same time. */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], ...options });
    const lines = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => lines.push(part));
    child.on('error', (error) => reject(new SetupError(`could not run ${command}: ${error.message}`)));
    child.on('close', (code, signal) => {
      if (code === 0) return resolve();
      const said = Buffer.concat(lines).toString().trim();
      reject(new SetupError(`\`${[command, ...args].join(' ')}\` ended with ${code ?? signal}\n${said}`));
    });
  });
}

/** What a command prints, or an empty string if it fails or is absent. */
export function output(command, args, options = {}) {
  try {
    return execFileSync(command, args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      ...options,
    }).trim();
  } catch {
    return '';
  }
}

/** SHA-256 of a file's text, by which a stamp tells whether an installation is of these requirements. */
export const digestOf = (file) => createHash('sha256').update(readFileSync(file, 'utf8')).digest('hex');

/** The text of a stamp, or an empty string. */
export const stampOf = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : '');

const running = new Map();
let ticking;

/**
 * Says that a step starts, does it, and says how long it took. While steps run, a terminal shows the seconds so far; a log gets
 * a line every 15 s.
 */
export async function step(what, doIt) {
  say(what);
  const started = Date.now();
  running.set(what, started);
  ticking ??= tick();
  try {
    return await doIt();
  } finally {
    running.delete(what);
    clearLine();
    say(`${short(what)}: ${seconds(started)} s`);
    if (running.size === 0) ticking = clearInterval(ticking);
  }
}

function tick() {
  const isTerminal = process.stderr.isTTY;
  const show = () => {
    const steps = [...running].map(([what, started]) => `${short(what)} ${seconds(started)} s`).join(', ');
    process.stderr.write(isTerminal ? `\r\x1b[Ksetup: … ${steps}` : `setup: … ${steps}\n`);
  };
  return setInterval(show, isTerminal ? 500 : 15_000).unref();
}

const short = (what) => what.replace(/^\S+ing /, '').replace(/ \(.*$/, '');
const seconds = (started) => Math.round((Date.now() - started) / 1000);
const clearLine = () => process.stderr.isTTY && process.stderr.write('\r\x1b[K');
