import { counted } from 'command-kit/plural';
import type { ChosenFile, Found, Verifier } from 'echelon-verify/browser';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useResource } from '../app/resource.ts';
import { place, setQuery } from '../app/router.ts';
import { command } from '../models/commands.ts';
import { count, inert } from '../models/words.ts';
import { Choice } from '../parts/filters.tsx';
import { Head } from '../parts/head.tsx';
import { Loading } from '../parts/states.tsx';
import SAMPLE from '../sample.json.gz?url';
import { createVerifier } from '../verifier.ts';
import { Reports } from './verify/reports.tsx';

/** Batch files and dumps of any trainer, verified in this page: nothing is sent. */
export function Verify() {
  const verifier = useRef<Verifier>(undefined);
  const [chosen, setChosen] = useState<{ files: ChosenFile[]; turn: number }>({ files: [], turn: 0 });
  // The verifier is loaded with the screen, so that files are verified without a network.
  useEffect(() => {
    verifier.current = createVerifier();
    return () => verifier.current?.close();
  }, []);
  const isSample = place.value.query.has('sample');
  const show = (files: ChosenFile[]) => setChosen(({ turn }) => ({ files, turn: turn + 1 }));
  useEffect(() => {
    if (isSample) void loadSample().then(show);
  }, [isSample]);
  const open = (files: FileList | null | undefined) => {
    setQuery({ batch: undefined, row: undefined, sample: undefined });
    if (files && files.length > 0) show(chosenOf(files));
  };
  const { files, turn } = chosen;
  const from = place.value.query.get('from') ?? undefined;
  const formats = useResource(() => verifier.current!.ask({ kind: 'formats' }), []);
  const found = useResource(
    async () =>
      turn > 0 ? verifier.current!.ask({ kind: 'read', files, ...(from && { from }) }) : undefined,
    [turn, from],
  );
  const name = nameOf(files);
  return (
    <>
      <Head title="Verify a file" command={command(`verify ${name || 'FILE'}`, { from })} />
      <div class="toolbar">
        <Choice
          label="Read as"
          name="from"
          value={from ?? ''}
          options={(formats.data ?? []).map((one) => one.name)}
          none="the content decides"
        />
      </div>
      <label
        class="drop"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          open(event.dataTransfer?.files);
        }}
      >
        <strong>Choose files, or drop them here</strong>
        <span class="muted">
          They are read in this page and not sent anywhere: advantage batches and optimizer steps as JSON or
          protobuf, plain or in gzip, a bundle, or dumps of other trainers as parquet, JSON lines, CSV, pickle
          or torch files. Choose a run's configuration (training_args.bin, args.json, config.yaml) with its
          dumps.
        </span>
        <input type="file" multiple onChange={(event) => open(event.currentTarget.files)} />
      </label>
      {isSample && (
        <p class="banner warn" role="note">
          Sample data, not of this installation: a batch that the replay engine reported with a planted fault.
        </p>
      )}
      {found.failure && (
        <p class="banner bad" role="alert">
          {inert(name)} was not verified: {inert(found.failure.message)}
        </p>
      )}
      {turn > 0 && found.loading && <Loading what={`Verifying ${inert(name)}`} />}
      {found.data && (
        <>
          <Summary found={found.data} />
          <Reports key={turn} found={found.data} verifier={verifier.current!} />
        </>
      )}
    </>
  );
}

/** Made by scripts/dashboard-sample.ts. */
async function loadSample(): Promise<ChosenFile[]> {
  const bytes = await (await fetch(SAMPLE)).blob();
  return [{ path: 'sample.json.gz', file: new File([bytes], 'sample.json.gz') }];
}

const nameOf = ([first, ...others]: ChosenFile[]): string =>
  others.length === 0 ? (first?.path ?? '') : `${first!.path} and ${counted(others.length, 'more file')}`;

const chosenOf = (files: FileList): ChosenFile[] =>
  Array.from(files, (file) => ({ path: file.webkitRelativePath || file.name, file }));

function Summary({ found: { reports } }: { found: Found }) {
  const notOk = reports.filter(({ ok, consistent }) => !ok && !consistent).length;
  const unproven = reports.filter(({ consistent }) => consistent).length;
  return (
    <p class="banner" role="status">
      {counted(reports.length, 'batch', 'batches')} verified,{' '}
      {notOk > 0 ? `${count(notOk)} not ok` : unproven > 0 ? 'nothing is wrong' : 'every one is ok'}
      {unproven > 0 && `; ${count(unproven)} consistent but not verified`}.
    </p>
  );
}
