/** Who made a version, when and why, and whether it was taken back. */

import type { ComponentChildren } from 'preact';
import type { FieldProblem } from '../client.ts';
import { CopyButton } from './copy-line.tsx';
import { Faults } from './faults.tsx';
import { Time } from './time.tsx';
import type { AnyVersion } from './version-mark.tsx';

interface Props {
  version: AnyVersion;
  /** The version that it is compared with; null where there is none. */
  below: string | null;
  compareUrl: (from: string) => string;
  /** Further names and values: `dt` and `dd`. */
  children?: ComponentChildren;
}

export function VersionFacts({ version, below, compareUrl, children }: Props) {
  const { commit, signature } = version;
  return (
    <Account of={version} keepers="Only what is pinned to it still gets it.">
      {version.prereleaseChannel !== null && (
        <>
          <dt>Channel</dt>
          <dd>{version.prereleaseChannel}</dd>
        </>
      )}
      {children}
      <dt>Git</dt>
      <dd>
        {version.status === 'Published' ? 'tag ' : 'branch '}
        <code>{version.status === 'Published' ? `v${version.version}` : `draft/${version.version}`}</code>,
        commit <code title={commit}>{commit.slice(0, 12)}</code>{' '}
        <CopyButton text={commit} label="the commit id" />
        {signature !== null && `, signed (${signature}), not verified`}
      </dd>
      {below !== null && (
        <>
          <dt>Changes</dt>
          <dd>
            <a href={compareUrl(below)}>Compare with {below}</a>
          </dd>
        </>
      )}
    </Account>
  );
}

interface AccountProps {
  of: Omit<AnyVersion, 'status' | 'version' | 'commit' | 'prereleaseChannel'>;
  /** A sentence that says who still gets what is withdrawn. */
  keepers: string;
  children?: ComponentChildren;
}

/** The account of a version or of a parameter file. */
export function Account({ of, keepers, children }: AccountProps) {
  const { message, withdrawn, publishedAt, publishedBy, createdAt, createdBy, author } = of;
  return (
    <>
      {withdrawn !== null && (
        <div class="withdrawn">
          <p>
            Withdrawn by {withdrawn.by} <Time at={withdrawn.at} exact />. {keepers}
          </p>
          <p class="message">{withdrawn.reason}</p>
        </div>
      )}
      {message !== null && <p class="message">{message}</p>}
      <dl class="facts">
        {publishedAt !== null && (
          <>
            <dt>Published</dt>
            <dd>
              <Time at={publishedAt} exact /> by {publishedBy}
            </dd>
          </>
        )}
        <dt>Made</dt>
        <dd>
          <Time at={createdAt} exact /> by {createdBy}
        </dd>
        {author !== null && author.name !== createdBy && (
          <>
            <dt>Author</dt>
            <dd>
              {author.name} &lt;{author.email}&gt;
            </dd>
          </>
        )}
        {children}
      </dl>
    </>
  );
}

/** The name and value that say what is found in a version. Null: that cannot be read at the moment. */
export function FoundFacts({ findings }: { findings: readonly FieldProblem[] | null }) {
  return (
    <>
      <dt>Findings</dt>
      <dd>
        {findings === null && <p class="warning">They cannot be read at the moment.</p>}
        {findings?.length === 0 && 'none'}
        <Faults faults={findings ?? []} />
      </dd>
    </>
  );
}
