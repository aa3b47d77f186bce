import type { Command } from 'commander';
import { examples } from 'echelon-verify/cli/examples';
import { json, type Output } from 'echelon-verify/cli/output';
import { apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { group } from '../group.ts';

type Options = ConnectionOptions & { json?: boolean };

/** `echelon clock`: the store's time; confirm the clock of Redis. */
export function clockCommand(output: Output): Command {
  return group(
    {
      name: 'clock',
      description:
        "Compare the store's time with the clock of Redis, and confirm that clock after a leap. Without a command, compare.",
    },
    [show(output), confirm(output)],
  );
}

function show(output: Output): Command {
  return apiCommand('show')
    .description("Show the store's time and the clock of Redis.")
    .addHelpText('after', examples('echelon clock show'))
    .action(async (options: Options) => {
      const clock = await (await clientFor(options)).get('/v1/clock', {});
      if (options.json) return output.line(json(clock));
      output.line(`The store's time is ${clock.time}; the clock of Redis says ${clock.redisTime}.`);
      if (clock.leapt) {
        const remedy = 'Set that clock right; if it is right now, run `echelon clock confirm`.';
        output.remark(`The clock of Redis has leapt, so retention deletes nothing. ${remedy}`);
      }
    });
}

function confirm(output: Output): Command {
  return apiCommand('confirm')
    .description('Confirm that the clock of Redis is right after a leap. Retention then deletes by it.')
    .addHelpText('after', examples('echelon clock confirm'))
    .action(async (options: Options) => {
      const clock = await (await clientFor(options)).post('/v1/clock/confirm', {});
      output.line(options.json ? json(clock) : `The store's time is ${clock.time}, as Redis says.`);
    });
}
