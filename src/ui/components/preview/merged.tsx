/** What a node's parameters are once all files are merged, before and after some changes. */

import type { DiffMode } from '../diff-table.tsx';
import { TextDiff } from '../text-diff.tsx';

interface MergedProps {
  path: string;
  /** Null where the node gets nothing. */
  before: string | null;
  after: string | null;
  mode: DiffMode;
  Heading: 'h4' | 'h5';
}

export function MergedParameters({ path, before, after, mode, Heading }: MergedProps) {
  return (
    <section class="part">
      <Heading>Merged parameters</Heading>
      {before === after ? (
        <p>The merged parameters stay as they are.</p>
      ) : (
        <TextDiff path={path} before={before ?? ''} after={after ?? ''} mode={mode} />
      )}
      {after !== null && (
        <details open={before === after}>
          <summary>All merged parameters afterwards</summary>
          <pre class="merged">{after}</pre>
        </details>
      )}
    </section>
  );
}
