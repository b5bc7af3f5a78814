/** The versions of a configuration or composite: drafts, and the published ones by major version. */

import { useState } from 'preact/hooks';
import { type Kind, links } from '../links.ts';
import type { VersionUse } from '../types.ts';
import { DeleteDraftDialog } from './deletions.tsx';
import { Num } from './num.tsx';
import { Scroller, SimpleTable } from './table.tsx';
import { Time } from './time.tsx';
import { type AnyVersion, VersionMark } from './version-mark.tsx';

interface DraftsProps {
  kind: Kind;
  name: string;
  drafts: readonly AnyVersion[];
  /** The user may change and publish drafts. */
  canModify: boolean;
  /** The user may delete drafts. */
  canManage: boolean;
}

/** Table `Drafts`: what is being worked on. */
export function DraftsTable({ kind, name, drafts, canModify, canManage }: DraftsProps) {
  const [leaving, setLeaving] = useState<string | null>(null);
  return (
    <>
      <SimpleTable
        name="Drafts"
        rows={drafts}
        keyOf={({ version }) => version}
        columns={[
          {
            label: 'Version',
            isName: true,
            cell: ({ version }) => <a href={links.version(kind, name, version)}>{version}</a>,
          },
          { label: 'Status', cell: (version) => <VersionMark version={version} /> },
          { label: 'Message', isLong: true, cell: ({ message }) => <Message text={message} /> },
          {
            label: 'Made',
            cell: ({ createdAt, createdBy }) => (
              <>
                <Time at={createdAt} /> <span class="muted">by {createdBy}</span>
              </>
            ),
          },
          {
            label: 'Actions',
            cell: ({ version }) => (
              <span class="row-deeds">
                {canModify && <a href={links.draft(kind, name, version)}>Edit</a>}
                <a href={links.review(kind, name, version)}>Review</a>
                {canManage && (
                  <button type="button" class="small" onClick={() => setLeaving(version)}>
                    Delete<span class="visually-hidden"> draft {version}</span>
                  </button>
                )}
              </span>
            ),
          },
        ]}
      />
      {leaving !== null && (
        <DeleteDraftDialog {...{ kind, name }} version={leaving} onClose={() => setLeaving(null)} />
      )}
    </>
  );
}

interface VersionsProps {
  kind: Kind;
  name: string;
  /** Published ones, highest first. */
  versions: readonly AnyVersion[];
  /** How many nodes are offered and run each; null while it is not known, undefined where the user may not see it. */
  use: readonly VersionUse[] | null | undefined;
}

/** Table `Versions`: one group of rows for each major version. */
export function VersionsTable({ kind, name, versions, use }: VersionsProps) {
  const uses = use && new Map(use.map((each) => [each.version, each]));
  const most = Math.max(1, ...(use ?? []).map(({ offered }) => offered));
  const columns = ['Version', 'Status', 'Message', 'Published'];
  if (uses !== undefined) columns.push('Offered', 'Running');
  return (
    <Scroller>
      <table class="versions">
        <caption class="visually-hidden">Versions</caption>
        <thead>
          <tr>
            {columns.map((label) => (
              <th key={label} scope="col" class={label === 'Running' ? 'number' : ''}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        {byMajor(versions).map(([major, members]) => (
          <tbody key={major}>
            <tr class="group">
              <th scope="rowgroup" colSpan={columns.length}>
                {major}
              </th>
            </tr>
            {members.map((version) => (
              <tr key={version.version}>
                <th scope="row">
                  <a href={links.version(kind, name, version.version)}>{version.version}</a>
                </th>
                <VersionCells version={version} />
                {uses !== undefined && (
                  <UseCells use={uses?.get(version.version)} {...{ kind, name, version, most }} />
                )}
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </Scroller>
  );
}

function VersionCells({ version }: { version: AnyVersion }) {
  const { withdrawn, message, publishedAt, publishedBy } = version;
  return (
    <>
      <td>
        <VersionMark version={version} />
      </td>
      <td class="long">
        {withdrawn !== null && (
          <p class="message">
            Withdrawn by {withdrawn.by} <Time at={withdrawn.at} />: {withdrawn.reason}
          </p>
        )}
        <Message text={message} />
      </td>
      <td>
        <Time at={publishedAt} /> <span class="muted">by {publishedBy}</span>
      </td>
    </>
  );
}

interface UseProps {
  kind: Kind;
  name: string;
  version: AnyVersion;
  /** Undefined while it is not known. */
  use: VersionUse | undefined;
  /** The number of nodes that the longest bar stands for. */
  most: number;
}

function UseCells({ kind, name, version, use, most }: UseProps) {
  if (use === undefined)
    return (
      <>
        <td />
        <td />
      </>
    );
  const { offered, direct, viaComposites, pinned, declared, served } = use;
  return (
    <>
      <td>
        <span class="use">
          <a href={links.version(kind, name, version.version, { nodes: 'all' })}>
            <Num value={offered} />
            <span class="visually-hidden"> nodes are offered {version.version}</span>
          </a>
          <span class="use-track" aria-hidden="true">
            <span class="use-bar" style={{ width: `${(offered / most) * 100}%` }} />
          </span>
        </span>
        {viaComposites + pinned > 0 && (
          <span class="muted">
            {direct} directly, {viaComposites} by composites, {pinned} pinned
          </span>
        )}
      </td>
      <td class="number">
        <Num value={declared + served} />
      </td>
    </>
  );
}

/** The beginning of a message; the page of the version has the whole. */
export function Message({ text }: { text: string | null }) {
  return text === null ? <span class="muted">none</span> : <p class="message short">{text}</p>;
}

/** Versions that are no SemVer stand at the end, as one group. */
function byMajor(versions: readonly AnyVersion[]): [string, AnyVersion[]][] {
  const groups = new Map<string, AnyVersion[]>();
  for (const version of versions) {
    const major = /^(0|[1-9]\d*)\.\d+\.\d+(?:[-+]|$)/.exec(version.version)?.[1];
    const label = major === undefined ? 'Other versions' : `Version ${major}`;
    groups.set(label, [...(groups.get(label) ?? []), version]);
  }
  return [...groups];
}
