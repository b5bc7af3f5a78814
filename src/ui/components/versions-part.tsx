/** The drafts and versions of a configuration or composite, and how to get them by git. */

import { apiOf, apiPath, type Kind, links, withQuery } from '../links.ts';
import { type Resource, useResource } from '../resource.ts';
import { can } from '../session.ts';
import type { Configuration, VersionUse } from '../types.ts';
import { CompareForm } from './compare-form.tsx';
import { CopyLine } from './copy-line.tsx';
import { Empty } from './empty.tsx';
import { RolloutsPart } from './rollouts.tsx';
import type { AnyVersion } from './version-mark.tsx';
import { DraftsTable, VersionsTable } from './versions-table.tsx';

/** The most that one answer of the API has. */
const MOST_VERSIONS = 1_000;

/** All versions, highest first. @typeParam V the versions of this kind */
export function useVersions<V extends AnyVersion>(kind: Kind, name: string): Resource<V[]> {
  return useResource<V[]>(withQuery(apiOf(kind, name, 'versions'), { take: MOST_VERSIONS }));
}

/** How many nodes are offered and run each published version. Nothing is read for users who may not see it. */
export function useVersionUse(kind: Kind, name: string): Resource<VersionUse[]> {
  const path = `/fleet${apiPath('configurations', name, 'versions')}`;
  const isComposite = kind === 'composites' ? 'true' : null;
  return useResource<VersionUse[]>(
    can('nodes.read') ? withQuery(path, { take: MOST_VERSIONS, isComposite }) : null,
  );
}

interface VersionsProps {
  kind: Kind;
  name: string;
  versions: Resource<AnyVersion[]>;
  use: Resource<VersionUse[]>;
  /** What the user may do. */
  access: Configuration['access'];
}

export function VersionsPart({ kind, name, versions: { data, total }, use, access }: VersionsProps) {
  const versions = data ?? [];
  const maySee = can('nodes.read') && use.state !== 'forbidden';
  const drafts = versions.filter(({ status }) => status === 'Draft');
  const published = versions.filter(({ status }) => status === 'Published');
  const canModify = access === 'Modify' || access === 'Manage';
  return (
    <>
      {drafts.length > 0 && (
        <section class="part">
          <h2>Drafts</h2>
          <DraftsTable {...{ kind, name, drafts, canModify }} canManage={access === 'Manage'} />
        </section>
      )}
      <RolloutsPart kind={kind} name={name} />
      <section class="part" aria-busy={maySee && use.state === 'loading'}>
        <div class="bar">
          <h2>Versions</h2>
          <span class="actions">
            <CompareForm {...{ kind, name, versions }} />
          </span>
        </div>
        {published.length > 0 ? (
          <VersionsTable {...{ kind, name }} versions={published} use={maySee ? use.data : undefined} />
        ) : (
          <NothingPublished {...{ kind, name, canModify }} draft={drafts[0]?.version} />
        )}
        {total !== null && total > versions.length && (
          <p class="hint">
            The {versions.length} highest of {total} versions are shown. Git has them all.
          </p>
        )}
      </section>
      <section class="part">
        <h2>Git</h2>
        <CopyLine text={cloneLine(kind, name)} label="the clone line" />
        <p class="hint">
          Use a personal access token as the password. Each version is a tag, each draft a branch.
        </p>
      </section>
    </>
  );
}

interface NothingProps extends Pick<VersionsProps, 'kind' | 'name'> {
  /** The highest draft. */
  draft: string | undefined;
  canModify: boolean;
}

function NothingPublished({ kind, name, draft, canModify }: NothingProps) {
  const what = kind === 'composites' ? 'composite' : 'configuration';
  return (
    <Empty>
      <p>No version is published yet, so no node can get this {what}.</p>
      {draft !== undefined && canModify && (
        <p>
          <a href={links.review(kind, name, draft)}>Review the draft {draft}</a> and publish it.
        </p>
      )}
      {draft === undefined && canModify && <p>Begin with a new draft.</p>}
    </Empty>
  );
}

/** What clones the repository from the server that the page came from. */
export function cloneLine(kind: Kind, name: string): string {
  return `git clone ${location.origin}/git/${kind}/${encodeURIComponent(name)}.git`;
}

/** The highest version below that nodes may get: what this one is compared with. @param versions highest first */
export function versionBelow(versions: readonly AnyVersion[], version: string): string | null {
  const at = versions.findIndex((each) => each.version === version);
  if (at < 0) return null;
  const below = versions.slice(at + 1).find((each) => each.status === 'Published' && each.withdrawn === null);
  return below?.version ?? null;
}
