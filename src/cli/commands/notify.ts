import { partsOf } from 'command-kit/arguments';
import { CliError, EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import { counted } from 'command-kit/plural';
import { fittedTable, table } from 'command-kit/table';
import { Option } from 'commander';
import type { SubscriptionInput } from 'echelon-client/calls';
import { NOTIFIED } from '../../schemas/subscription.ts';
import { group } from '../group.ts';
import { row, stated } from '../row.ts';

const PROJECT = ['--project <project>', 'project; default: that of your key, or `default`'] as const;
const SUBSCRIPTION = ['<id>', 'id of the subscription'] as const;

type Target = SubscriptionInput['target'];

/** Where messages go, in one line. */
function targetInWords(target: Target): string {
  if (target.kind === 'email') return inert(target.to.join(', '));
  return inert(target.kind === 'webhook' ? target.url : `${target.kind} ${target.secret}`);
}

const ls = row({
  name: 'ls',
  description: 'List the subscriptions of a project.',
  options: [PROJECT],
  examples: ['echelon notify ls --project vision'],
  verb: 'get',
  path: '/v1/subscriptions',
  input: ({ project }: { project?: string }) => ({ query: stated({ project }) }),
  print: ({ items }, { width }) =>
    items.length === 0
      ? 'No subscriptions. Add one with `echelon notify add`.'
      : fittedTable(
          [
            { title: 'ID' },
            { title: 'EVENTS', minWidth: 12 },
            { title: 'TO', minWidth: 12 },
            { title: 'FILTER', drop: 1 },
          ],
          items.map(({ id, events, target, states, tags, owner }) => [
            id,
            events.join(', '),
            targetInWords(target),
            inert([...(states ?? []), ...(tags ?? []), owner ?? ''].filter(Boolean).join(', ')),
          ]),
          width,
        ),
});

interface Added {
  on: (typeof NOTIFIED)[number][];
  state?: string[];
  tags?: string[];
  owner?: string;
  waits?: number;
  project?: string;
  webhook?: string;
  secret?: string;
  slack?: string;
  teams?: string;
  email?: string[];
  every?: number;
}

function targetOf({ webhook, secret, slack, teams, email, every }: Added): Target {
  if ([webhook, slack, teams, email].filter((one) => one !== undefined).length !== 1)
    throw new CliError(EXIT.usage, 'Give one of --webhook, --slack, --teams and --email.');
  if (slack !== undefined) return { kind: 'slack', secret: slack };
  if (teams !== undefined) return { kind: 'teams', secret: teams };
  if (email !== undefined) return { kind: 'email', to: email, ...stated({ everyMinutes: every }) };
  if (secret === undefined)
    throw new CliError(EXIT.usage, 'A webhook needs --secret NAME, the key of its signatures.');
  return { kind: 'webhook', url: webhook!, secret };
}

const add = row({
  name: 'add',
  description: 'Send events of a project to a webhook, a chat or e-mail. Secrets are named, never given.',
  options: [
    () => new Option('--on <events...>', 'kinds of events').choices(NOTIFIED).makeOptionMandatory(),
    ['--state <states>', 'of `state`, only changes to these states, separated by commas', partsOf],
    ['--tags <tags>', 'only experiments with one of these tags, separated by commas', partsOf],
    ['--owner <name>', 'only experiments that this key or person submitted'],
    ['--waits <minutes>', 'minutes in the queue before `waiting` is sent; default 60', Number],
    PROJECT,
    ['--webhook <url>', 'POST each message there, in the format of Standard Webhooks'],
    ['--secret <name>', 'secret with the key of the signatures of a webhook'],
    ['--slack <name>', 'secret with the URL of an incoming webhook of Slack'],
    ['--teams <name>', 'secret with the URL of a workflow of Microsoft Teams'],
    ['--email <addresses...>', 'send e-mails'],
    ['--every <minutes>', 'minimum number of minutes between two e-mails; default 10', Number],
  ],
  examples: [
    'echelon notify add --on state wrong-rows --state failed --webhook https://example.com/hook --secret hook',
    'echelon notify add --on sweep-finished --email ml@example.com',
  ],
  verb: 'post',
  path: '/v1/subscriptions',
  input: (given: Added) => {
    const { on: events, state, tags, owner, waits: waitMinutes, project } = given;
    // The API checks the states.
    const states = state as SubscriptionInput['states'];
    const body = {
      events,
      ...stated({ states, tags, owner, waitMinutes, project }),
      target: targetOf(given),
    };
    return { body };
  },
  print: ({ id }) => `${id} added. Send a test with \`echelon notify test ${id}\`.`,
});

const test = row({
  name: 'test',
  description: 'Send a test message; `deliveries` shows whether it arrived.',
  arguments: [SUBSCRIPTION],
  examples: ['echelon notify test sub-00000000000000000000'],
  verb: 'post',
  path: '/v1/subscriptions/{id}/test',
  print: (_answer, { id }) => `A test is on its way. See \`echelon notify deliveries ${inert(id)}\`.`,
});

const deliveries = row({
  name: 'deliveries',
  description: 'Show the last deliveries and the dead letters of a subscription.',
  arguments: [SUBSCRIPTION],
  examples: ['echelon notify deliveries sub-00000000000000000000'],
  verb: 'get',
  path: '/v1/subscriptions/{id}/deliveries',
  print: ({ items, pending, dropped, disabled, dead }, { width }) => {
    const rows = items.map(({ at, type, outcome, tries, reason }) => [
      new Date(at).toISOString(),
      type,
      outcome,
      tries,
      inert(reason ?? ''),
    ]);
    const off =
      disabled === null ? '' : `\nDisabled: ${inert(disabled)}. \`echelon notify resend\` enables it again.`;
    const total = `${pending} pending, ${counted(dead.length, 'dead letter')}${dropped > 0 ? `, ${dropped} not retained` : ''}.${off}`;
    return rows.length === 0
      ? total
      : `${table(['EVENT', 'TYPE', 'OUTCOME', 'TRY', 'REASON'], rows, width)}\n\n${total}`;
  },
});

const resend = row({
  name: 'resend',
  description: 'Send the dead letters of a subscription again; a disabled one sends again, too.',
  arguments: [SUBSCRIPTION],
  examples: ['echelon notify resend sub-00000000000000000000'],
  verb: 'post',
  path: '/v1/subscriptions/{id}/resend',
  print: ({ queued }) => `${counted(queued, 'message')} will be sent again.`,
});

const remove = row({
  name: 'delete',
  description: 'Delete a subscription with its pending messages and dead letters.',
  arguments: [SUBSCRIPTION],
  examples: ['echelon notify delete sub-00000000000000000000'],
  verb: 'delete',
  path: '/v1/subscriptions/{id}',
  json: (_nothing, { id }) => ({ deleted: id }),
  print: (_nothing, { id }) => `${inert(id)} deleted`,
});

const description =
  'Send events of a project to webhooks, Slack, Teams and e-mail. Without a command, list the subscriptions.';

/** `echelon notify`. */
export const commands = {
  notify: group({ name: 'notify', description }, [ls, add, test, deliveries, resend, remove]),
};
