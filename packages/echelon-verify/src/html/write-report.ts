/** Writes a verification as one HTML file, which opens without a server and loads nothing. */
import { gzipSync } from 'node:zlib';
import type { Batch } from '../format/batch.ts';
import { batchId, HEAD_ID, type ReportHead } from './contents.ts';
import { packBatch } from './pack-batch.ts';

/** Bytes of the rows of all batches, in base64: with its page and its head the file then stays below 1 MB. */
const MAX_ROW_BYTES = 740_000;
/** A batch that takes more than this loses its texts. */
const MAX_BYTES_WITH_TEXTS = MAX_ROW_BYTES / 2;
/** Batches in the table of a report. */
const MAX_LISTED = 200;

/** A batch of the table. */
export interface Listed {
  /** Its position among all batches, from 0. */
  at: number;
  /** Why the file lacks its rows; omitted: it has them. */
  withoutRows?: string;
  /** The file has its rows without their texts. */
  withoutTexts?: boolean;
}

/** Collects batches in their order, and holds no more of them than a file can have. */
export interface ReportCollector {
  /** `isNotOk`: these batches are listed, and have their rows, before others. */
  add(batch: Batch, isNotOk: boolean): void;
  /** The HTML; `headOf` makes the head for the batches of the table. */
  write(headOf: (listed: readonly Listed[]) => ReportHead): Promise<string>;
}

interface Packed extends Listed {
  /** Base64; undefined if there is no room for the rows. */
  rows?: string | undefined;
}

/** A collector for one file. */
export function createReportCollector(): ReportCollector {
  const notOk: Packed[] = [];
  const others: Packed[] = [];
  let next = 0;
  return {
    add(batch, isNotOk) {
      const pool = isNotOk ? notOk : others;
      const taken = pool.reduce((sum, { rows }) => sum + (rows?.length ?? 0), 0);
      if (pool.length < MAX_LISTED) pool.push({ at: next, ...(taken < MAX_ROW_BYTES && pack(batch)) });
      next += 1;
    },
    async write(headOf) {
      const chosen = fitting([...notOk, ...others].slice(0, MAX_LISTED)).sort((a, b) => a.at - b.at);
      const head = headOf(chosen.map(({ rows: _, ...listed }) => listed));
      const parts = [jsonPart(HEAD_ID, head)];
      chosen.forEach(({ rows }, at) => {
        if (rows !== undefined) parts.push(part(batchId(at), rows));
      });
      return await pageWith(parts);
    },
  };
}

/** The HTML of a page whose only part is `data` as JSON, in the element `id`. */
export async function writeJsonPage(id: string, data: unknown): Promise<string> {
  return await pageWith([jsonPart(id, data)]);
}

async function pageWith(parts: readonly string[]): Promise<string> {
  const { page } = await import('./gen/page.js');
  return page.replace('<!--report-->', () => parts.join('\n'));
}

const jsonPart = (id: string, data: unknown): string =>
  part(id, base64(new TextEncoder().encode(JSON.stringify(data))));

/** Base64 has no character that ends an element. */
const part = (id: string, data: string): string => `<script type="text/plain" id="${id}">${data}</script>`;

const base64 = (bytes: Uint8Array): string => gzipSync(bytes, { level: 9 }).toString('base64');

function pack(batch: Batch): Omit<Packed, 'at'> {
  const rows = base64(packBatch(batch, { texts: true }));
  const hasTexts = batch.dictionary?.texts !== undefined || batch.actionTexts !== undefined;
  if (rows.length <= MAX_BYTES_WITH_TEXTS || !hasTexts) return { rows };
  return { rows: base64(packBatch(batch, { texts: false })), withoutTexts: true };
}

/** The batches with their rows as far as the file has room. */
function fitting(batches: readonly Packed[]): Packed[] {
  let left = MAX_ROW_BYTES;
  return batches.map(({ rows, ...batch }) => {
    if (rows === undefined || rows.length > left) return { at: batch.at, withoutRows: TOO_LARGE };
    left -= rows.length;
    return { ...batch, rows };
  });
}

const TOO_LARGE = 'They would make the file larger than 1 MB.';
