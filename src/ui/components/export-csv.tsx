/** Saves all that a filter meets as CSV. The API sends it piece by piece; how much has come is said in figures. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiProblem, open } from '../client.ts';
import { saveBlob } from '../download.ts';
import { leaveForSignIn } from '../sign-in.ts';
import { Problem } from './problem.tsx';
import { Progress } from './progress.tsx';

interface ExportProps {
  /** The list below /api/v1 with its filters and without paging. */
  path: string;
  /** The name of the file. */
  file: string;
  /** How many rows there will be about. */
  total: number;
}

export function ExportCsv({ path, file, total }: ExportProps) {
  const [rows, setRows] = useState<number | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const ended = useRef(new AbortController());
  useEffect(() => () => ended.current.abort(), []);
  const start = async () => {
    ended.current = new AbortController();
    setRows(0);
    setProblem(null);
    try {
      saveBlob(await download(path, ended.current.signal, setRows), file);
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 401) leaveForSignIn();
      if (!ended.current.signal.aborted) setProblem(problemOf(error));
    } finally {
      setRows(null);
    }
  };
  return (
    <span class="deed">
      {rows !== null && <Progress label="Rows" value={rows} max={Math.max(total, rows)} />}
      {rows === null ? (
        <button type="button" onClick={() => void start()}>
          Export CSV
        </button>
      ) : (
        <button type="button" onClick={() => ended.current.abort()}>
          Stop the export
        </button>
      )}
      {problem !== null && <Problem problem={problem} />}
    </span>
  );
}

function problemOf(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  return new ApiProblem(0, { code: 'unreachable', detail: 'The export broke off. Nothing was saved.' });
}

const LINE_FEED = 10;

/** @param onRows gets the number of rows that have come */
async function download(path: string, signal: AbortSignal, onRows: (rows: number) => void): Promise<Blob> {
  const { body } = await open(path, 'text/csv', signal);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  // The first line is the header.
  let rows = -1;
  const reader = body?.getReader();
  for (let piece = await reader?.read(); piece?.value !== undefined; piece = await reader?.read()) {
    pieces.push(piece.value);
    for (const byte of piece.value) if (byte === LINE_FEED) rows += 1;
    onRows(Math.max(0, rows));
  }
  return new Blob(pieces, { type: 'text/csv' });
}
