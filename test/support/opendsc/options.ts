/** What the builder of an OpenDSC server takes and gives. */

import type { StoredCertificate, Value } from './values.ts';

export type Row = Record<string, Value>;

/** What a method gives back, to be named in others. */
export interface Named {
  id: string;
  name: string;
}

export interface VersionOptions {
  version?: string;
  /** Contents by path. */
  files?: Record<string, string | Uint8Array>;
  status?: Status;
  entryPoint?: string;
  /** Epoch milliseconds, or text as it stands in the database. */
  createdAt?: number | string;
  createdBy?: string;
}

export type Status = 'Draft' | 'Published';
export type Mode = 'Monitor' | 'Remediate';

export interface ParameterOptions {
  configuration: Named;
  /** Default, unless another is given. */
  scopeType?: Named;
  value?: string;
  version?: string;
  text?: string;
  status?: Status;
  /** There is no file then. */
  isPassthrough?: boolean;
  createdAt?: number | string;
}

export interface NodeOptions {
  fqdn: string;
  id?: string;
  /** A certificate in PEM, or what is stored of it. One is made up otherwise. */
  certificate?: string | StoredCertificate;
  assignment?: {
    configuration?: Named;
    composite?: Named;
    majorVersion?: number;
    prereleaseChannel?: string;
  };
  tags?: readonly Named[];
  source?: 'Local' | 'Pull';
  mode?: Mode;
  /** Other columns, such as `LastCheckIn`. */
  columns?: Row;
}

export interface UserOptions {
  username: string;
  /** Null is an account without a password. */
  password?: string | null;
  accountType?: 'User' | 'ServiceAccount';
  columns?: Row;
}

export interface GrantOptions {
  configuration?: Named;
  composite?: Named;
  parametersOf?: Named;
  user?: Named;
  group?: Named;
  level: 'Read' | 'Modify' | 'Manage';
}
