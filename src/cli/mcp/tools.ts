import type { ExperimentSpec } from 'echelon-client/calls';
import * as z from 'zod';
import type { Client } from '../client.ts';
import { stated } from '../row.ts';

/** A tool of the MCP server: a request of the API under a name and with parameters that suit a program. */
export interface Tool {
  name: string;
  description: string;
  input: z.ZodRawShape;
  /** Whether it changes something; such a tool needs `--allow-writes`. */
  writes: boolean;
  call(client: Client, input: never): Promise<unknown>;
}

function tool<Shape extends z.ZodRawShape>(
  name: string,
  description: string,
  input: Shape,
  call: (client: Client, input: z.infer<z.ZodObject<Shape>>) => Promise<unknown>,
  writes = false,
): Tool {
  return { name, description, input, writes, call };
}

const id = z.string().describe('id of the experiment');
const limit = z.number().int().min(1).max(100).default(20).describe('maximum number of items');
const cursor = z.string().optional().describe('`next` of the previous page');
const spec = z.record(z.string(), z.unknown()).describe('spec of an experiment, as JSON');
// The API checks it.
const body = (given: Record<string, unknown>) => ({ body: given as unknown as ExperimentSpec });

/** Every tool, first those that change nothing. */
export const TOOLS: readonly Tool[] = [
  tool(
    'list_experiments',
    'List experiments with state, progress and verification, newest first.',
    {
      state: z
        .enum(['queued', 'launching', 'running', 'cancelling', 'succeeded', 'failed', 'cancelled'])
        .optional(),
      search: z.string().optional().describe('text in the id, name, note or tags'),
      project: z.string().optional(),
      limit,
      cursor,
    },
    (client, { state, ...query }) =>
      client.get('/v1/experiments', { query: { ...query, ...(state && { state: [state] }) } }),
  ),
  tool(
    'get_experiment',
    'Get an experiment: state and its reason, progress, wait reason, verification.',
    { id },
    (client, path) => client.get('/v1/experiments/{id}', { path }),
  ),
  tool(
    'get_logs',
    "Get the last lines of an experiment's output.",
    { id, tail: z.number().int().min(1).max(500).default(100), contains: z.string().optional() },
    (client, { id: of, ...query }) => client.get('/v1/experiments/{id}/logs', { path: { id: of }, query }),
  ),
  tool(
    'get_metrics',
    'Get metrics of an experiment over its steps, summarized to `resolution` points.',
    {
      id,
      names: z.array(z.string()).max(20).describe('names of metrics; `actor/*` is all that begin so'),
      resolution: z.number().int().min(1).max(200).default(30),
    },
    (client, { id: of, ...query }) => client.get('/v1/experiments/{id}/metrics', { path: { id: of }, query }),
  ),
  tool(
    'list_metric_names',
    'List the metrics of an experiment with their last values.',
    { id },
    (client, path) => client.get('/v1/experiments/{id}/metrics/names', { path }),
  ),
  tool(
    'list_batches',
    'List the recorded batches of an experiment with the number of exact, rounding, wrong and unverifiable rows.',
    { id, limit, cursor },
    (client, { id: of, ...query }) => client.get('/v1/experiments/{id}/batches', { path: { id: of }, query }),
  ),
  tool(
    'get_batch',
    'Get the report of a batch: its findings and wrong rows.',
    { id, attempt: z.number().int().min(1), batch: z.number().int().min(1) },
    (client, path) => client.get('/v1/experiments/{id}/batches/{attempt}/{batch}', { path }),
  ),
  tool(
    'explain_row',
    'Explain how the advantage of a row comes about, and what a wrong value would be explained by.',
    {
      id,
      batch: z.number().int().min(1),
      row: z.number().int().min(0),
      attempt: z.number().int().min(1).optional(),
    },
    (client, { id: of, ...query }) => client.get('/v1/experiments/{id}/explain', { path: { id: of }, query }),
  ),
  tool(
    'get_queue',
    'Get the queue: positions, wait reasons, estimated starts, and the capacity of the clusters.',
    { limit, cursor },
    (client, query) => client.get('/v1/queues', { query }),
  ),
  tool('list_clusters', 'List clusters and their nodes.', {}, (client) => client.get('/v1/clusters', {})),
  tool('list_sweeps', 'List sweeps.', { limit, cursor }, (client, query) =>
    client.get('/v1/sweeps', { query }),
  ),
  tool(
    'plan',
    'Plan an experiment without running it: defaults, command, findings about the spec.',
    { spec },
    (client, given) => client.post('/v1/plans', body(given.spec)),
  ),
  tool(
    'what_if',
    'Find out when an experiment would start, and which others would start later. Changes nothing.',
    { spec },
    (client, given) => client.post('/v1/queues/what-if', { body: { spec: given.spec } }),
  ),
  tool(
    'submit_experiment',
    'Submit an experiment.',
    { spec },
    (client, given) => client.post('/v1/experiments', body(given.spec)),
    true,
  ),
  tool(
    'rerun_experiment',
    'Run an experiment again as a new one.',
    { id },
    (client, path) => client.post('/v1/experiments/{id}/rerun', { path }),
    true,
  ),
  tool(
    'cancel_experiment',
    'Cancel an experiment.',
    { id, reason: z.string().max(200).optional() },
    (client, { id: of, reason }) =>
      client.post('/v1/experiments/{id}/cancel', { path: { id: of }, body: stated({ reason }) }),
    true,
  ),
];
