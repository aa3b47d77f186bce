import { examples } from 'command-kit/examples';
import { json, type Output } from 'command-kit/output';
import type { Command } from 'commander';
import { type ApiOptions, apiCommand, clientFor } from '../connection.ts';

/** `echelon clock`: compares the store's time with the clock of Redis, or confirms that clock after a leap. */
function clockCommand(output: Output): Command {
  return apiCommand('clock')
    .description(
      "Compare the store's time with the clock of Redis. After a leap of that clock, retention deletes nothing.",
    )
    .option(
      '--confirm',
      'confirm that the clock of Redis is right after a leap; retention then deletes by it',
    )
    .addHelpText('after', examples('echelon clock', 'echelon clock --confirm'))
    .action(async (options: ApiOptions & { confirm?: boolean }) => {
      const client = await clientFor(options);
      const clock = options.confirm
        ? await client.post('/v1/clock/confirm', {})
        : await client.get('/v1/clock', {});
      if (options.json) return output.line(json(clock));
      const { time, redisTime, leapt } = clock;
      output.line(`The store's time is ${time}; the clock of Redis says ${redisTime}.`);
      if (!leapt) return;
      const remedy = 'Set that clock right; if it is right now, run `echelon clock --confirm`.';
      output.remark(`The clock of Redis has leapt, so retention deletes nothing. ${remedy}`);
    });
}

/** The commands of this module by their names. */
export const commands = { clock: clockCommand };
