/** The difference of two texts that the browser holds. */

import { useEffect, useState } from 'preact/hooks';
import type { FileDiff } from '../types.ts';
import { diffOfTexts } from './diff/texts.ts';
import { type DiffMode, DiffTable } from './diff-table.tsx';

interface TextDiffProps {
  /** It names the table. */
  path: string;
  before: string;
  after: string;
  mode?: DiffMode;
}

/** A table as of any difference. The library that compares is loaded when the first one is shown. */
export function TextDiff({ path, before, after, mode = 'unified' }: TextDiffProps) {
  const [diff, setDiff] = useState<FileDiff | null>(null);
  useEffect(() => {
    let isOver = false;
    const compare = async () => {
      const found = await diffOfTexts(path, before, after);
      if (!isOver) setDiff(found);
    };
    void compare();
    return () => {
      isOver = true;
    };
  }, [path, before, after]);
  if (diff === null) return <p class="muted">The texts are being compared.</p>;
  return <DiffTable path={path} diff={diff} mode={mode} />;
}
