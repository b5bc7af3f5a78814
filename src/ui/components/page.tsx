/** The frame of one page: heading, title, way back, actions, and what stands there while its content is not there. */

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ApiProblem } from '../client.ts';
import type { Resource } from '../resource.ts';
import { isLeaving, usePlace } from '../router.ts';
import { leaveNotices, Notices } from './notices.tsx';
import { Problem } from './problem.tsx';

export type PageState = 'loading' | 'ready' | 'empty' | 'error' | 'forbidden';

export interface Crumb {
  href: string;
  label: string;
}

interface PageProps {
  /** The one h1. */
  heading: string;
  /** The name of the tab that is shown, for the title. */
  tab?: string | undefined;
  /** What the page needs. Its content is shown once all of these are there. */
  of?: readonly Resource<unknown>[];
  /** There is nothing to show yet, such as a list without any entry. */
  isEmpty?: boolean;
  /** It is there, but something else is on its way, such as the next page of a list. */
  isBusy?: boolean;
  crumbs?: readonly Crumb[];
  /** What stands beside the heading, such as marks. */
  beside?: ComponentChildren;
  /** Buttons and links of deeds. */
  actions?: ComponentChildren;
  /** What stands there however the reading goes, such as tabs and filters, which can mend a bad query. */
  tools?: ComponentChildren;
  children?: ComponentChildren;
}

export function Page(props: PageProps) {
  const { heading, tab, crumbs = [], beside, actions, tools, children } = props;
  const state = stateOf(props);
  const { path } = usePlace();
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    document.title = `${[heading, tab].filter(Boolean).join(', ')} - Hawser`;
  }, [heading, tab]);
  useEffect(() => arrive(path, main.current), [path]);
  const isThere = (props.of ?? []).every((resource) => resource.data !== null);
  return (
    <main id="main" ref={main} tabIndex={-1} data-state={state} aria-busy={state === 'loading'}>
      {crumbs.length > 0 && <Crumbs crumbs={crumbs} />}
      <div class="page-head">
        <h1>{heading}</h1>
        {beside}
        {state !== 'loading' && state !== 'forbidden' && actions !== undefined && (
          <div class="actions">{actions}</div>
        )}
      </div>
      <Notices />
      {state !== 'forbidden' && tools}
      <Problems of={props.of ?? []} state={state} />
      {isThere ? children : state === 'loading' && <Skeleton />}
    </main>
  );
}

function stateOf({ of = [], isEmpty = false, isBusy = false }: PageProps): PageState {
  if (of.length > 0 && of.every((resource) => resource.state === 'forbidden')) return 'forbidden';
  if (of.some((resource) => resource.state === 'error' || resource.state === 'forbidden')) return 'error';
  if (isLeaving.value || isBusy || of.some((resource) => resource.state === 'loading')) return 'loading';
  return isEmpty ? 'empty' : 'ready';
}

/** The page that the browser opened first: focus stays where the browser puts it. */
let firstPath: string | null = null;

/** A page was reached by a link: screen readers and the keyboard begin at its content. */
function arrive(path: string, main: HTMLElement | null): void {
  leaveNotices(path);
  const isFirst = firstPath === null;
  firstPath ??= path;
  if (isFirst || main === null) return;
  if (!document.querySelector('dialog[open]')) main.focus({ preventScroll: true });
  if (location.hash === '') scrollTo(0, 0);
}

function Crumbs({ crumbs }: { crumbs: readonly Crumb[] }) {
  return (
    <nav aria-label="Breadcrumb" class="crumbs">
      <ol>
        {crumbs.map(({ href, label }) => (
          <li key={href}>
            <a href={href}>{label}</a>
          </li>
        ))}
      </ol>
    </nav>
  );
}

const FORBIDDEN = 'You may not see this. Ask somebody who manages users for the permission.';

function Problems({ of, state }: { of: readonly Resource<unknown>[]; state: PageState }) {
  const failed = of.filter(({ problem }) => problem !== null);
  if (state === 'forbidden' && failed.length === 0)
    return <Problem problem={new ApiProblem(403, { code: 'forbidden', detail: FORBIDDEN })} />;
  // Several parts that fail for one reason are one message.
  const unique = new Map(failed.map((resource) => [resource.problem?.detail, resource]));
  return (
    <>
      {[...unique.values()].map(
        ({ problem, reload }) =>
          problem !== null && (
            <Problem key={problem.detail} problem={problem} onRetry={() => void reload()} />
          ),
      )}
    </>
  );
}

/** Grey lines where content will stand. They say nothing; `aria-busy` of main does. */
export function Skeleton({ lines = 6 }: { lines?: number }) {
  return (
    <div class="skeleton" aria-hidden="true">
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} />
      ))}
    </div>
  );
}

/**
 * A part that a page can do without. It is left out where the user may not see it, or while `of` is not asked for.
 * @param children gets what was read
 */
export function Part<T>({
  of,
  heading,
  children,
}: {
  of: Resource<T>;
  heading?: string;
  children: (data: T) => ComponentChildren;
}) {
  if (of.state === 'forbidden') return null;
  return (
    <section class="part" aria-busy={of.state === 'loading'}>
      {heading !== undefined && <h2>{heading}</h2>}
      {of.problem !== null && <Problem problem={of.problem} onRetry={() => void of.reload()} />}
      {of.data !== null ? children(of.data) : of.state === 'loading' && <Skeleton lines={3} />}
    </section>
  );
}

/** A page without resources of its own that the user may not see at all. */
export function ForbiddenPage({ heading }: { heading: string }) {
  const none: Resource<unknown> = {
    state: 'forbidden',
    data: null,
    total: null,
    etag: null,
    problem: null,
    reload: async () => undefined,
  };
  return <Page heading={heading} of={[none]} />;
}
