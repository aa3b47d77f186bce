import { readFile } from 'node:fs/promises';
import type { BlockList } from 'node:net';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { refusedAddresses } from '../../schemas/subscription.ts';
import type { Message, StoredSubscription } from '../../store/subscriptions/subscriptions.ts';
import { inWords, pageOf } from './in-words.ts';
import { DeliveryError, postJson, signedMessage } from './post.ts';

/** How and from where notifications are sent. */
export interface SendSettings {
  /** Directory of the secrets: PROJECT/NAME. */
  secretsDir: string | null;
  /** Addresses that are not public and may be reached. */
  allowed: BlockList;
  /** smtp://, smtps:// with user and password. */
  smtpUrl: string | null;
  smtpFrom: string | null;
  /** Domains to which e-mails may be sent, in lower case. */
  mailDomains: readonly string[];
  /** URL of the dashboard, for links. */
  publicUrl: string | null;
}

/** Messages in one delivery to a target of this kind at most. */
export function messagesAtOnce({ target }: StoredSubscription): number {
  return target.kind === 'email' ? 100 : 1;
}

/** Sends messages to the target of a subscription; rejects with the reason if they did not arrive. */
export async function send(
  { project, target }: StoredSubscription,
  messages: readonly Message[],
  settings: SendSettings,
): Promise<void> {
  const { allowed } = settings;
  if (target.kind === 'email') return await mail(project, target.to, messages, settings);
  const [message] = messages as [Message];
  const secret = await readSecret(settings.secretsDir, project, target.secret);
  if (target.kind === 'webhook') {
    const signed = signedMessage(message, { secret, now: Date.now() });
    return await postJson(target.url, { ...signed, allowed });
  }
  if (!URL.canParse(secret) || !/^https?:$/.test(new URL(secret).protocol))
    throw new DeliveryError(`the secret ${target.secret} holds no URL of a webhook`);
  const text = { slack: slackText, teams: teamsText }[target.kind];
  const body = JSON.stringify(text(inWords(message), pageOf(message, settings.publicUrl)));
  await postJson(secret, { body, allowed });
}

/** The value of a secret. A project can only name its own: they are in a directory of its name. */
async function readSecret(directory: string | null, project: string, name: string): Promise<string> {
  if (directory === null) throw new DeliveryError('the dispatcher has no ECHELON_NOTIFY_SECRETS_DIR');
  const text = await readFile(join(directory, project, name), 'utf8').catch(() => '');
  if (text.trim() === '') throw new DeliveryError(`the dispatcher has no secret ${project}/${name}`);
  return text.trim();
}

/** Names of users cannot mention anyone: Slack's control characters are escaped. */
function slackText(text: string, page: string | undefined): object {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return { text: page === undefined ? escaped : `${escaped} <${page}|Open>`, mrkdwn: false };
}

/** An Adaptive Card for a workflow of Teams. Runs of text have no markup. */
function teamsText(text: string, page: string | undefined): object {
  const content = {
    type: 'AdaptiveCard',
    version: '1.4',
    body: [{ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text }] }],
    ...(page !== undefined && { actions: [{ type: 'Action.OpenUrl', title: 'Open', url: page }] }),
  };
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content }],
  };
}

const MAIL_MS = 15_000;

/** One e-mail with all messages; its Message-ID follows from theirs, so that a repetition has the same. */
async function mail(
  project: string,
  to: readonly string[],
  messages: readonly Message[],
  { smtpUrl, smtpFrom, mailDomains, publicUrl }: SendSettings,
): Promise<void> {
  const refused = refusedAddresses(to, mailDomains);
  if (refused.length > 0)
    throw new DeliveryError(`ECHELON_MAIL_DOMAINS does not have the domain of ${refused.join(', ')}`);
  if (smtpUrl === null || smtpFrom === null)
    throw new DeliveryError('the dispatcher has no ECHELON_SMTP_URL and ECHELON_SMTP_FROM');
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: MAIL_MS,
    greetingTimeout: MAIL_MS,
    socketTimeout: MAIL_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const lines = messages.map((one) => {
    const page = pageOf(one, publicUrl);
    return `${new Date(one.at).toISOString()}  ${inWords(one)}${page ? `\n  ${page}` : ''}`;
  });
  const [first] = messages as [Message];
  const rest = messages.length === 1 ? '' : ` and ${messages.length - 1} more`;
  const host = smtpFrom.slice(smtpFrom.lastIndexOf('@') + 1).replace(/>.*$/, '');
  await transport.sendMail({
    from: smtpFrom,
    to: [...to],
    subject: `[${project}] ${inWords(first).slice(0, 120)}${rest}`,
    messageId: `<${first.id}.${messages.at(-1)!.id}@${host}>`,
    text: `${lines.join('\n\n')}\n`,
  });
}
