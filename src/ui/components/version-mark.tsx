/** Whether a version is a draft, published, or withdrawn. */

import { Mark } from './marks.tsx';

/** The members of versions of configurations and composites that the console shows for both. */
export interface AnyVersion {
  version: string;
  status: 'Draft' | 'Published';
  prereleaseChannel: string | null;
  createdAt: string;
  createdBy: string;
  author: { name: string; email: string } | null;
  publishedAt: string | null;
  publishedBy: string | null;
  commit: string;
  message: string | null;
  signature: 'OpenPgp' | 'Ssh' | 'X509' | null;
  withdrawn: { at: string; by: string; reason: string } | null;
}

type Stateful = Pick<AnyVersion, 'status' | 'withdrawn'>;

export function stateOfVersion({ status, withdrawn }: Stateful): 'Draft' | 'Published' | 'Withdrawn' {
  return withdrawn === null ? status : 'Withdrawn';
}

export function VersionMark({ version }: { version: Stateful }) {
  return <Mark word={stateOfVersion(version)} />;
}
