/** Writes a verification as one HTML file, which opens without a server and loads nothing. */
import { gzipSync } from 'node:zlib';
import type { Batch } from '../format/batch.ts';
import { batchId, HEAD_ID, type ReportHead } from './contents.ts';
import { packBatch } from './pack-batch.ts';

/** Bytes of a file. */
const MAX_BYTES = 1_000_000;
/** Bytes of the rows of all batches that are collected, in base64. */
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
      const { page } = await import('./gen/page.js');
      const listed = [...notOk, ...others].slice(0, MAX_LISTED);
      const headFor = (chosen: Packed[]) =>
        jsonPart(HEAD_ID, headOf(chosen.map(({ rows: _, ...without }) => without)));
      const room = MAX_BYTES - Buffer.byteLength(page) - headFor(fitting(listed, 0)).length;
      const chosen = fitting(listed, room).sort((a, b) => a.at - b.at);
      const parts = [headFor(chosen)];
      chosen.forEach(({ rows }, at) => {
        if (rows !== undefined) parts.push(part(batchId(at), rows));
      });
      return withParts(page, parts);
    },
  };
}

/** The page with `data` as JSON in the element `id`, its only part. */
export const withJson = (page: string, id: string, data: unknown): string =>
  withParts(page, [jsonPart(id, data)]);

const withParts = (page: string, parts: readonly string[]): string =>
  page.replace('<!--report-->', () => parts.join('\n'));

const jsonPart = (id: string, data: unknown): string =>
  part(id, base64(new TextEncoder().encode(JSON.stringify(data))));

/** MAX bytes of the element around the rows of a batch. */
const PART_BYTES = 100;

/** Base64 has no character that ends an element. */
const part = (id: string, data: string): string => `<script type="text/plain" id="${id}">${data}</script>`;

const base64 = (bytes: Uint8Array): string => gzipSync(bytes, { level: 9 }).toString('base64');

function pack(batch: Batch): Omit<Packed, 'at'> {
  const rows = base64(packBatch(batch, { texts: true }));
  const hasTexts = batch.dictionary?.texts !== undefined || batch.actionTexts !== undefined;
  if (rows.length <= MAX_BYTES_WITH_TEXTS || !hasTexts) return { rows };
  return { rows: base64(packBatch(batch, { texts: false })), withoutTexts: true };
}

/** The batches with their rows, of which the file has room for `left` bytes. */
function fitting(batches: readonly Packed[], left: number): Packed[] {
  let room = left;
  return batches.map(({ rows, ...batch }) => {
    const bytes = (rows?.length ?? 0) + PART_BYTES;
    if (rows === undefined || bytes > room) return { at: batch.at, withoutRows: TOO_LARGE };
    room -= bytes;
    return { ...batch, rows };
  });
}

const TOO_LARGE = 'They would make the file larger than 1 MB.';
