/** The lines of a file with their numbers and, if asked for, who wrote them. Long files come in blocks. */

import { useState } from 'preact/hooks';
import { type Kind, links } from '../links.ts';
import type { BlamedLines } from '../types.ts';
import { Num } from './num.tsx';
import { Scroller } from './table.tsx';
import { Time } from './time.tsx';

/** So many lines are made at once. */
const BLOCK = 2_000;

interface Blame {
  kind: Kind;
  name: string;
  blocks: readonly BlamedLines[];
}

/** A table named by the path. */
export function CodeLines({ path, text, blame }: { path: string; text: string; blame?: Blame }) {
  const [shown, setShown] = useState(BLOCK);
  const lines = linesOf(text);
  const origins = new Map(blame?.blocks.map((block) => [block.startLine, block]));
  const rest = lines.length - shown;
  return (
    <>
      <Scroller>
        <table class="code">
          <caption class="visually-hidden">{path}</caption>
          <thead class="visually-hidden">
            <tr>
              {blame !== undefined && <th scope="col">Version and author</th>}
              <th scope="col">Line</th>
              <th scope="col">Text</th>
            </tr>
          </thead>
          <tbody>
            {lines.slice(0, shown).map((line, index) => {
              const origin = origins.get(index + 1);
              return (
                <tr key={index} class={origin === undefined ? '' : 'origin'}>
                  {blame !== undefined && <Origin blame={blame} block={origin} shown={shown} />}
                  <th scope="row">{index + 1}</th>
                  <td>{line}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </Scroller>
      {rest > 0 && (
        <p>
          <button type="button" onClick={() => setShown(shown + BLOCK)}>
            Show the next {Math.min(rest, BLOCK)} lines
          </button>{' '}
          <span class="muted">
            <Num value={rest} /> lines are not shown yet.
          </span>
        </p>
      )}
    </>
  );
}

/** The first line of a block has a cell that reaches over all of its lines. */
function Origin({ blame, block, shown }: { blame: Blame; block: BlamedLines | undefined; shown: number }) {
  if (block === undefined) return null;
  const { version, author, authoredAt, startLine, lineCount, commit } = block;
  return (
    <td class="blame" rowSpan={Math.min(lineCount, shown - startLine + 1)} title={`Commit ${commit}`}>
      <a href={links.version(blame.kind, blame.name, version)}>{version}</a> {author}{' '}
      <span class="muted">
        <Time at={authoredAt} />
      </span>
    </td>
  );
}

/** Without line breaks. A break at the end begins no line. */
function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
