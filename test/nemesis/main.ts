/**
 * Random faults under load, and a check of the whole history. Ends with 0: no violation; 1: a violation; 2: wrong arguments;
 * 3: inconclusive, because the machine was starved; 4: a time above its bound.
 */
import { parseArgs } from 'node:util';
import { type Options, type Result, runCampaign } from './campaign.ts';
import { WORLDS } from './faults/worlds.ts';
import { percentile } from './watch.ts';

const USAGE = `usage: npm run test:nemesis -- [options]
  --world NAME    ${Object.keys(WORLDS).join(', ')}. Default: all, one after another.
  --fault TEXT    Only faults whose name contains this text.
  --minutes M     Minutes of faults in each world. Default: 2.
  --seed N        Seed of faults and load. Default: a random one, which is printed.

ECHELON_STARVED=continue continues on a starved machine; times say nothing there.`;

function optionsFrom(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      world: { type: 'string' },
      fault: { type: 'string' },
      minutes: { type: 'string', default: '2' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const worlds = values.world === undefined ? Object.keys(WORLDS) : [values.world];
  const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
  if (worlds.some((world) => !Object.hasOwn(WORLDS, world))) throw new Error(`unknown world ${values.world}`);
  if (!(minutes > 0) || !Number.isInteger(seed)) throw new Error('--minutes and --seed need numbers');
  return { ...values, worlds, minutes, seed };
}

/** Prints the reasons once more after the logs, which the process prints at its end, so that the end of the output states them. */
function repeatAtEnd(reasons: readonly string[]): void {
  process.on('exit', () => {
    for (const reason of reasons.slice(0, 20)) console.error(reason);
  });
}

/** Without an outcome: the campaign itself failed. */
async function campaign(options: Options): Promise<Result> {
  try {
    return await runCampaign(options);
  } catch (error) {
    repeatAtEnd([`FAILED the campaign itself: ${(error as Error).stack}`]);
    throw error;
  }
}

function print(result: Result): void {
  const { measured, experiments, attempts, events, operations } = result;
  console.log(`  ${experiments} experiments, ${attempts} launches, ${events} events; ${result.machine}`);
  console.log(`  operations: ${[...operations].map(([name, count]) => `${count} ${name}`).join(', ')}`);
  for (const [kind, { count, exposures }] of measured.faults)
    console.log(`  ${kind}: ${count} faults, ${exposures} exposures`);
  for (const [kind, lack] of result.omitted) console.log(`  ${kind}: omitted, ${lack}`);
  const [p50, p99] = [0.5, 0.99].map((share) => percentile(measured.recoveries, share));
  console.log(`  recovery p50 ${p50} ms, p99 ${p99} ms; longest wait of an event ${measured.lagMs} ms`);
  for (const violation of result.violations) console.log(`  VIOLATION ${violation}`);
  for (const exceeded of result.exceeded) console.log(`  EXCEEDED ${exceeded}`);
}

/** Ends at the first world with a violation. */
async function runWorlds({ worlds, fault, minutes, seed }: ReturnType<typeof optionsFrom>): Promise<number> {
  const whileStarved = process.env.ECHELON_STARVED === 'continue';
  const progress = (line: string) => console.log(`  ${line}`);
  let starved = false;
  for (const world of worlds) {
    const choice = fault ? ` --fault '${fault}'` : '';
    console.log(`npm run test:nemesis -- --world ${world}${choice} --minutes ${minutes} --seed ${seed}`);
    const result = await campaign({ world, fault, seed, minutes, whileStarved, progress });
    starved ||= result.starved;
    print(result);
    repeatAtEnd([...result.violations.map((one) => `VIOLATION ${one}`), ...result.exceeded]);
    if (result.violations.length > 0) return 1;
    if (result.exceeded.length > 0 && !result.starved) return 4;
  }
  if (!starved) return 0;
  console.log('inconclusive: the machine was starved of CPU; no guarantee was violated, times say nothing');
  return whileStarved ? 0 : 3;
}

async function main(): Promise<number> {
  let options: ReturnType<typeof optionsFrom>;
  try {
    options = optionsFrom(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n${USAGE}`);
    return 2;
  }
  if (!options.help) return await runWorlds(options);
  console.log(USAGE);
  return 0;
}

process.exitCode = await main();
