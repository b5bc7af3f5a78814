/** A file of a comparison: what happened to it, and its lines, which are read when they come into view. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { useResource } from '../resource.ts';
import type { FileChange, FileDiff } from '../types.ts';
import { CopyButton } from './copy-line.tsx';
import { type DiffMode, DiffTable } from './diff-table.tsx';
import { Problem } from './problem.tsx';

/** The id of a file's section. A link to it has `href={'#' + fileAnchor(path)}`. */
export function fileAnchor(path: string): string {
  return `file-${encodeURIComponent(path)}`;
}

type Summary = Pick<FileChange, 'change' | 'additions' | 'deletions' | 'previousPath'>;

/** What happened to a file, in one line. */
export function DiffSummary({ change, additions, deletions, previousPath }: Summary) {
  return (
    <span class="diff-summary">
      <span class="diff-change" data-change={change}>
        {change}
      </span>{' '}
      {additions !== null && <span class="diff-plus">+{additions}</span>}{' '}
      {deletions !== null && <span class="diff-minus">-{deletions}</span>}{' '}
      {previousPath !== null && (
        <span>
          was <code>{previousPath}</code>
        </span>
      )}
    </span>
  );
}

interface DiffFileProps {
  change: FileChange;
  /** The path of its FileDiff below /api/v1. It may have a query, but `context` is added here. */
  url: string;
  mode: DiffMode;
  /** The level of the heading. The default is 2. */
  level?: 2 | 3 | 4 | 5;
  /** The id of its section, which is no landmark then: the page may show another difference of the same path. */
  id?: string;
  /** Its lines are read at once, wherever it stands. */
  isEager?: boolean;
}

/** A section with an anchor, a heading and the difference, which can be folded. */
export function DiffFile({ change, url, mode, level = 2, id: given, isEager = false }: DiffFileProps) {
  const id = given ?? fileAnchor(change.path);
  const Heading = `h${level}` as const;
  const section = useRef<HTMLElement>(null);
  const isInView = useInView(section) || isEager;
  const [isOpen, setOpen] = useState(true);
  useEffect(() => {
    // The browser looks for the anchor before the page has it.
    if (location.hash === `#${id}`) section.current?.scrollIntoView();
  }, [id]);
  return (
    <section
      id={id}
      class="diff-file"
      ref={section}
      aria-labelledby={given === undefined ? `${id}-name` : undefined}
    >
      <div class="diff-file-head">
        <Heading id={`${id}-name`}>{change.path}</Heading>
        <CopyButton text={change.path} label={change.path} deed="Copy path" />
      </div>
      <details open onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <DiffSummary {...change} /> <ExecutableNote change={change} />
        </summary>
        {isInView && isOpen ? (
          <Content change={change} url={url} mode={mode} />
        ) : (
          <div class="diff-waiting" style={{ minHeight: heightOf(change) }} />
        )}
      </details>
    </section>
  );
}

function ExecutableNote({ change: { executableBefore, executableAfter } }: { change: FileChange }) {
  if (executableBefore === null || executableAfter === null || executableBefore === executableAfter)
    return null;
  return <span>{executableAfter ? 'became executable' : 'is no longer executable'}</span>;
}

/** The numbers of unchanged lines around changes that the button goes through. */
const CONTEXTS = [3, 20, 100];

function Content({ change, url, mode }: Pick<DiffFileProps, 'change' | 'url' | 'mode'>) {
  const [step, setStep] = useState(0);
  const query = `${url.includes('?') ? '&' : '?'}context=${CONTEXTS[step]}`;
  const diff = useResource<FileDiff>(url + query, { poll: false });
  // While more lines are read, those that are there stay.
  const last = useRef<FileDiff | null>(null);
  if (diff.data !== null) last.current = diff.data;
  const shown = diff.data ?? last.current;
  if (diff.problem !== null) return <Problem problem={diff.problem} onRetry={() => void diff.reload()} />;
  if (shown === null) {
    return (
      <p class="diff-waiting" style={{ minHeight: heightOf(change) }}>
        The lines are being read.
      </p>
    );
  }
  const hasMore = step < CONTEXTS.length - 1 && change.change !== 'Added' && change.change !== 'Removed';
  return (
    <DiffTable
      path={change.path}
      diff={shown}
      mode={mode}
      sizes={change}
      onMore={hasMore && shown.hunks.length > 0 ? () => setStep(step + 1) : undefined}
    />
  );
}

/** About the height that the lines will have, so that what is below hardly moves. */
function heightOf({ additions, deletions }: FileChange): string {
  const lines = Math.min(2_000, (additions ?? 0) + (deletions ?? 0) + 8);
  return `${lines * 1.25}rem`;
}

/** Whether an element has come near the part of the page that is shown. It stays true from then on. */
function useInView(target: { current: HTMLElement | null }): boolean {
  const [isInView, setInView] = useState(false);
  useEffect(() => {
    if (target.current === null) return undefined;
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && setInView(true),
      { rootMargin: '600px' },
    );
    observer.observe(target.current);
    return () => observer.disconnect();
  }, []);
  return isInView;
}
