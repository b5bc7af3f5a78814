/** Row types of sign-in by an identity provider, and of the exchange of tokens. Rules as in schema.ts. */

/** Who somebody is at a provider. Nothing but issuer and subject ever leads to a user. */
export interface IdentitiesTable {
  id: string;
  user_id: string;
  /** The name of the provider here. */
  provider: string;
  issuer: string;
  subject: string;
  last_sign_in_at: number;
  created_at: number;
}

/** A sign-in that was begun. The browser has the secret from which everything else of it is made. */
export interface SignInFlowsTable {
  /** The SHA-256 of the state. */
  state_hash: string;
  /** The SHA-256 of the secret in the browser's cookie. */
  browser_hash: string;
  provider: string;
  /** The path to go on to; null for the start of the console. */
  return_to: string | null;
  /** The account that the identity is to belong to, and its session; null where none was named. */
  link_user_id: string | null;
  link_session: string | null;
  expires_at: number;
}

/** Whose tokens may become tokens of a service account. */
export interface FederationsTable {
  id: string;
  user_id: string;
  issuer: string;
  /** A JSON object: the claims that a token must have, with their values. */
  claims: string;
  /** A JSON array of scope names. */
  scopes: string;
  lifetime_minutes: number;
  created_at: number;
}

export interface SignInTables {
  identities: IdentitiesTable;
  /** The groups that the provider named at the last sign-in. */
  identity_groups: { identity_id: string; external_group_id: string; since_set: number };
  sign_in_flows: SignInFlowsTable;
  federations: FederationsTable;
  /** Ids of tokens that work once, by the SHA-256 of issuer and id. */
  used_tokens: { id_hash: string; expires_at: number };
  /**
   * A view: who is in which group, by a membership of one's own (`Local`) or by a group of a provider, and the number of the last
   * change set when that began.
   */
  group_memberships: { group_id: string; user_id: string; source: string; since_set: number };
}

/**
 * The statements that make the tables, the same on both engines but for the type of texts.
 * @param text the type of a column of text
 */
export function signInStatements(text: string): readonly string[] {
  return [
    `create table identities (
      id ${text} primary key,
      user_id ${text} not null references users (id) on delete cascade,
      provider ${text} not null,
      issuer ${text} not null,
      subject ${text} not null,
      last_sign_in_at bigint not null,
      created_at bigint not null,
      unique (issuer, subject))`,
    'create index identities_by_user on identities (user_id)',
    `create table identity_groups (
      identity_id ${text} not null references identities (id) on delete cascade,
      external_group_id ${text} not null,
      primary key (identity_id, external_group_id))`,
    `create table sign_in_flows (
      state_hash ${text} primary key,
      browser_hash ${text} not null,
      provider ${text} not null,
      return_to ${text},
      link_user_id ${text} references users (id) on delete cascade,
      link_session ${text},
      expires_at bigint not null)`,
    `create table federations (
      id ${text} primary key,
      user_id ${text} not null references users (id) on delete cascade,
      issuer ${text} not null,
      claims ${text} not null,
      scopes ${text} not null,
      lifetime_minutes bigint not null,
      created_at bigint not null)`,
    'create index federations_by_user on federations (user_id)',
    `create table used_tokens (id_hash ${text} primary key, expires_at bigint not null)`,
    `alter table sessions add column identity_id ${text} references identities (id) on delete cascade`,
    `alter table sessions add column provider_session ${text}`,
    'alter table sessions add column ends_at bigint',
    'create index sessions_by_identity on sessions (identity_id) where identity_id is not null',
    `alter table access_tokens add column federation_id ${text} references federations (id) on delete set null`,
    'create index access_tokens_by_federation on access_tokens (federation_id) where federation_id is not null',
    `create view group_memberships as
      select group_id, user_id, 'Local' as source from group_members
      union all
      select m.group_id, i.user_id, i.provider as source from identity_groups g
        join identities i on i.id = g.identity_id
        join external_group_mappings m on m.provider = i.provider and m.external_group_id = g.external_group_id`,
  ];
}

/** The tables whose rows decide who is in which group. */
export const TABLES_OF_MEMBERSHIP = ['identity_groups', 'external_group_mappings'] as const;
