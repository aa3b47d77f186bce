import { counted } from 'command-kit/plural';
import type { Answer } from 'echelon-client/calls';
import { gpuFaults, gpuModel, inPercent, nodeName, otherLabels } from 'echelon-client/node-words';
import { jobWords, problemWords } from 'echelon-client/slurm-words';
import { useGet, usePolling } from '../app/resource.ts';
import { may } from '../app/session.ts';
import { command } from '../models/commands.ts';
import { count, inert } from '../models/words.ts';
import { Card } from '../parts/card.tsx';
import { ClusterActions } from '../parts/cluster-actions.tsx';
import { Head } from '../parts/head.tsx';
import { Ago, Fact, State } from '../parts/marks.tsx';
import { Await, Empty } from '../parts/states.tsx';

type Cluster = Answer<'get', '/v1/clusters'>['items'][number];

/** The Ray clusters: what is free, and what does not answer. */
export function Clusters() {
  const list = useGet('/v1/clusters', {});
  const held = useGet('/v1/allocations', {});
  const names = new Map(held.data?.items.map(({ experiment, name }) => [experiment, name]));
  const reload = () => {
    list.reload();
    held.reload();
  };
  usePolling(reload, 5000);
  return (
    <>
      <Head title="Clusters" command={command('clusters')} />
      {/* With their names at once, so that nothing moves when these are there. */}
      <Await of={{ ...list, data: held.loading ? undefined : list.data }}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No cluster yet">
              <p>
                Add one with{' '}
                <code>echelon clusters add NAME --address ray://HOST:10001 --shared-root DIRECTORY</code>.
              </p>
            </Empty>
          ) : (
            <div class="stack">
              {items.map((cluster) => (
                <One key={cluster.name} {...{ cluster, names }} onChange={list.reload} />
              ))}
            </div>
          )
        }
      </Await>
    </>
  );
}

const stateOf = ({ answering, paused, draining }: Cluster) =>
  !answering ? 'error' : draining ? 'draining' : paused ? 'paused' : 'ok';
const WORDS: Record<string, string> = { error: 'not answering', ok: 'answering' };

interface OneProps {
  cluster: Cluster;
  /** The names of experiments by id. */
  names: ReadonlyMap<string, string>;
  onChange: () => void;
}

function One({ cluster, names, onChange }: OneProps) {
  const { name, nodes, experiments, paused, labels, slurm } = cluster;
  const state = stateOf(cluster);
  return (
    <Card
      label={`Cluster ${name}`}
      title={
        <>
          <h2>{name}</h2>
          <State state={state} word={WORDS[state]} />
        </>
      }
      note={
        <>
          last answer <Ago at={cluster.lastSeenAt} />
        </>
      }
      end={may.value('admin') && <ClusterActions {...{ cluster, onChange }} />}
    >
      <div class="card-body">
        {paused?.reason && <p class="muted">Paused: {inert(paused.reason)}</p>}
        <dl class="facts">
          <Fact name="Ray">{cluster.rayVersion ?? 'unknown'}</Fact>
          <Fact name="ray-worker">{cluster.rayWorkerVersion ?? 'unknown'}</Fact>
          <Fact name="Address">
            <span class="mono">{cluster.rayAddress ?? cluster.address}</span>
          </Fact>
          <Fact name="Backfill">{cluster.backfill ? 'on' : 'off'}</Fact>
          {Object.entries(labels).map(([key, value]) => (
            <Fact key={key} name={key}>
              {inert(value)}
            </Fact>
          ))}
          {cluster.autoscaler && (
            <Fact name="Asked for">
              {cluster.autoscaler.nodes.map(({ gpus, cpus, count: nodes }) => (
                <span key={`${gpus} ${cpus}`} class="block">
                  {count(nodes)} × {gpus > 0 ? `${count(gpus)} GPUs` : `${count(cpus)} CPUs`}
                </span>
              ))}
              <Ago at={cluster.autoscaler.since} />
            </Fact>
          )}
        </dl>
        {slurm && <Slurm {...slurm} />}
        {experiments.length > 0 && (
          <div class="line-of-parts on-cluster">
            <span class="muted">{counted(experiments.length, 'experiment')}:</span>
            {experiments.map((id) => (
              <a key={id} href={`/experiments/${id}`}>
                {inert(names.get(id) ?? id)}
              </a>
            ))}
          </div>
        )}
        <ul class="nodes" aria-label="Nodes">
          {nodes.map((node) => (
            <li key={node.id}>
              <span class="mono clip" title={node.id}>
                {inert(nodeName(node))}
              </span>
              {node.state !== 'ready' && (
                <span class="small muted">
                  {node.state}: {inert(node.stateReason)}
                </span>
              )}
              {otherLabels(node) !== '' && <span class="small muted">{inert(otherLabels(node))}</span>}
              <Health node={node} />
              <Use
                name={inert(['GPUs', gpuModel(node)].filter(Boolean).join(' '))}
                total={node.gpusTotal}
                own={node.gpusAllocated}
                free={node.gpusFree}
              />
              <Use name="CPUs" total={node.cpusTotal} own={node.cpusAllocated} free={node.cpusFree} />
            </li>
          ))}
        </ul>
      </div>
    </Card>
  );
}

/** The jobs that wait or run in Slurm, and what is wrong with it. */
function Slurm(slurm: NonNullable<Cluster['slurm']>) {
  const { jobs, partition, maxNodes } = slurm;
  const problem = problemWords(slurm);
  return (
    <section aria-label="Jobs in Slurm">
      <p class="muted">
        Nodes from Slurm: up to {counted(maxNodes, 'node')} of the partition {inert(partition)}
      </p>
      {problem !== null && <State state="error" word={inert(problem)} />}
      <ul>
        {jobs.map((job) => (
          <li key={job.job ?? job.role} class="small">
            {inert(jobWords(job))}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The load of a node, and the faults of its GPUs. */
function Health({ node }: { node: Cluster['nodes'][number] }) {
  const of = node.health;
  if (of === null) return null;
  const use = of.gpus.flatMap(({ utilizationPercent: one }) => (one === null ? [] : [one]));
  const heat = of.gpus.flatMap(({ temperatureCelsius: one }) => (one === null ? [] : [one]));
  const figures = [
    of.cpuPercent !== null && `CPU ${inPercent(of.cpuPercent)}`,
    of.memoryPercent !== null && `memory ${inPercent(of.memoryPercent)}`,
    use.length > 0 && `GPUs ${inPercent(use.reduce((sum, one) => sum + one, 0) / use.length)}`,
    heat.length > 0 && `up to ${Math.round(Math.max(...heat))} °C`,
  ];
  return (
    <>
      <span class="small muted">{figures.filter(Boolean).join(', ')}</span>
      {gpuFaults(node).map((fault) => (
        <span key={fault} class="small">
          <State state="error" word={inert(fault)} />
        </span>
      ))}
    </>
  );
}

/** What is in use on a node: allocated by Echelon, and used by others. */
function Use({ name, total, own, free }: { name: string; total: number; own: number; free: number }) {
  const taken = Math.max(own, total - free);
  const text = total === 0 ? `no ${name}` : `${count(free)} of ${count(total)} ${name} free`;
  return (
    <span class="use small">
      <span class="gauge" role="img" aria-label={`${text}; ${count(own)} allocated by Echelon`}>
        <span class="own" style={{ width: `${total > 0 ? (own / total) * 100 : 0}%` }} />
        <span class="others" style={{ width: `${total > 0 ? ((taken - own) / total) * 100 : 0}%` }} />
      </span>
      {text}
    </span>
  );
}
