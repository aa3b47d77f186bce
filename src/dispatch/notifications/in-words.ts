import { inert } from 'command-kit/inert';
import { wrongBecause } from 'echelon-verify/report';
import type { Message } from '../../store/subscriptions/subscriptions.ts';

/** What a message says, in one line without control characters. */
export function inWords({ type, data }: Message): string {
  return inert(sentence(type, data)).slice(0, 700);
}

function sentence(type: string, data: Message['data']): string {
  const of = `${data.name} (${data.experiment ?? data.sweep ?? 'cluster'})`;
  switch (type) {
    case 'state':
      return `${of} is ${data.to}${data.reason ? `: ${data.reason}` : ''}`;
    case 'wrong-rows':
      return `${of}: the training signal is wrong in batch ${data.batch} of step ${data.step} (${data.rows} rows): ${wrongBecause(data as never).join(', ')}`;
    case 'rule':
      return `${of}: the rule ${data.rule} fired at step ${data.step}: ${data.reason}`;
    case 'waiting':
      return `${of} is queued for more than ${data.waitMinutes} minutes`;
    case 'cluster-silent':
      return `The cluster ${data.name} has not answered since ${new Date(Number(data.since)).toISOString()}`;
    case 'checkpoint':
      return `${of} saved the checkpoint of step ${data.step}`;
    case 'sweep-finished':
      return `The sweep ${of} is ${data.state}: ${counts(data.counts as Record<string, number>)}`;
    case 'gap':
      return `Up to ${data.dropped} messages before this one were not retained`;
    default:
      return `Test of the subscription ${data.subscription} of the project ${data.project}`;
  }
}

function counts(all: Record<string, number>): string {
  const parts = Object.entries(all).filter(([, count]) => count > 0);
  return parts.map(([state, count]) => `${count} ${state}`).join(', ');
}

/** The page of the dashboard that shows what a message is about; undefined: the api's public URL is not known. */
export function pageOf({ type, data }: Message, publicUrl: string | null): string | undefined {
  if (publicUrl === null) return undefined;
  if (type === 'cluster-silent') return `${publicUrl}/clusters`;
  if (data.experiment) return `${publicUrl}/experiments/${data.experiment}`;
  return data.sweep ? `${publicUrl}/sweeps/${data.sweep}` : undefined;
}
