/**
 * What a poll reads from the database: the node that holds a certificate, its assignment, its scopes, and the generation.
 * A node is read once and remembered until the change feed names its certificate. The statements are prepared once and
 * run on the bare handle, because Kysely prepares a statement each time (some 50 µs).
 */

import type { Database as SqliteHandle, Statement } from 'better-sqlite3';
import { normalizeHostName } from '../domain/names.ts';
import { NODE_SCOPE_TYPE_ID } from '../domain/scopes.ts';
import { isId } from '../lib/ids.ts';
import { RecentMap } from '../lib/recent-map.ts';
import type { ChangeFeed } from './change-feed.ts';

/** What a node is given. Exactly one of the two ids is set. */
export interface Assignment {
  configurationId: string | null;
  compositeId: string | null;
  majorVersion: number | null;
  prereleaseChannel: string | null;
  /** The one version that the node is pinned to. Then the two above are null. */
  version: string | null;
}

/** Two assignments have the same key only if they give the same to any node. */
export function keyOfAssignment(assignment: Assignment): string {
  const { configurationId, compositeId, majorVersion, prereleaseChannel, version } = assignment;
  return `${configurationId ?? compositeId}|${majorVersion ?? ''}|${prereleaseChannel ?? ''}|${version ?? ''}`;
}

export interface KnownNode {
  nodeId: string;
  /** The time is in epoch milliseconds. */
  certificateNotAfter: number;
  /** When the certificate that the node has announced ends, in epoch milliseconds; 0 where it has announced none. */
  pendingNotAfter: number;
  assignment: Assignment | null;
  generation: number;
  /** Null until they are asked for. `scopesOf` gives the scopes of the node. */
  scopes: KnownScopes | null;
  /**
   * The ETag of the last poll whose evidence is noted, and what it told. It is forgotten when a report has written
   * evidence of another checksum. Where other processes serve the node too, it is also forgotten with each generation.
   */
  notedEtag: string | null;
  notedAs: PollEvidence;
  /** The checksum of the bundle of which it is noted that the node got it whole. It is forgotten with the two above. */
  notedServed: string | null;
}

/** What a poll tells: nothing, with what it was answered, that the node was told it, or that the node has it. */
export const POLL_EVIDENCE = { none: 0, answered: 1, told: 2, declared: 3 } as const;
export type PollEvidence = (typeof POLL_EVIDENCE)[keyof typeof POLL_EVIDENCE];

/** A scope that applies to a node: Default, one of its tagged values, or the node itself. */
export interface ScopeLink {
  scopeTypeId: string;
  scopeTypeName: string;
  /** The value is null for Default, and the fqdn for Node. */
  scopeValue: string | null;
  precedence: number;
}

interface KnownScopes {
  /** The scopes as nodes with the same tags share them, so without the name of this node. */
  shared: readonly ScopeLink[];
  /** A node has the same name for as long as it exists. */
  fqdn: string;
}

/** The value is null for Default and for Node. */
type SharedRow = [scopeTypeId: string, scopeTypeName: string, precedence: number, scopeValue: string | null];
type ScopeRow = [fqdn: string, ...shared: SharedRow];

/** A row is an array, because making an object with as many names costs as much as finding the row. */
type Row = [
  nodeId: string,
  certificateNotAfter: number,
  pendingNotAfter: number,
  configurationId: string | null,
  compositeId: string | null,
  majorVersion: number | null,
  prereleaseChannel: string | null,
  version: string | null,
  generation: number,
];

/** The table of nodes is not needed, because a certificate is deleted with its node. */
const SELECT = `select c.node_id, c.not_after, coalesce(p.not_after, 0), a.configuration_id, a.composite_id,
    a.major_version, a.prerelease_channel, a.version, (select value from generation where id = 1)
  from node_certificates c left join assignments a on a.node_id = c.node_id
  left join node_certificates p on p.node_id = c.node_id and p.state = 'pending'
  where c.state = 'current' and`;

const SELECT_ANNOUNCED = `select 1 from node_certificates
  where node_id = ? and state = 'pending' and thumbprint in (?, ?)`;

/** The enabled scope types that apply to a node, in the order of merging. */
const SELECT_SCOPES = `select n.fqdn, t.id, t.name, t.precedence, v.value
  from nodes n cross join scope_types t
  left join node_tags g on g.node_id = n.id and g.scope_type_id = t.id
  left join scope_values v on v.id = g.scope_value_id
  where n.id = ? and t.is_enabled = 1 and (t.is_system = 1 or v.id is not null)
  order by t.precedence`;

/**
 * This is more than a fleet has, because in a smaller cache nodes that poll in turn would push each other out. A node
 * takes some 500 bytes here.
 */
export const MAX_NODES = 250_000;

/** The number of recent scopes, and of combinations of them, that nodes share. Nodes with others have their own. */
const MAX_SHARED = 5_000;

export class NodeLookup {
  private readonly feed: ChangeFeed;
  private readonly isAlone: boolean;
  private readonly statement: Statement<[string], Row>;
  private readonly byId: Statement<[string], Row>;
  private readonly idIfKnown: Statement<[string], string>;
  private readonly idByFqdn: Statement<[string], string>;
  private readonly announced: Statement<[string, string, string]>;
  private readonly scopes: Statement<[string], ScopeRow>;
  /** Nodes by the thumbprint of their current certificate. The feed says when an entry is no longer valid. */
  private readonly known = new RecentMap<string, KnownNode>(MAX_NODES);
  /** Scopes and lists of them by their rows as text, so that equal ones are in memory once. */
  private readonly links = new RecentMap<string, ScopeLink>(MAX_SHARED);
  private readonly lists = new RecentMap<string, readonly ScopeLink[]>(MAX_SHARED);

  /**
   * @param handle must not write
   * @param isAlone tells that no other process serves nodes, so that what this one has noted stays true
   */
  constructor(handle: SqliteHandle, feed: ChangeFeed, isAlone = false) {
    this.feed = feed;
    this.isAlone = isAlone;
    this.statement = handle.prepare<[string], Row>(`${SELECT} c.thumbprint = ?`).raw();
    this.byId = handle.prepare<[string], Row>(`${SELECT} c.node_id = ?`).raw();
    this.idIfKnown = handle.prepare<[string], string>('select id from nodes where id = ?').pluck();
    this.idByFqdn = handle.prepare<[string], string>('select id from nodes where fqdn = ?').pluck();
    this.announced = handle.prepare(SELECT_ANNOUNCED);
    this.scopes = handle.prepare<[string], ScopeRow>(SELECT_SCOPES).raw();
    feed.subscribe({
      onChange: (kind, key) => {
        if (kind === 'certificates') this.known.delete(key);
        if (kind === 'scopes') this.forgetAll();
      },
      onLost: () => this.forgetAll(),
    });
  }

  /**
   * The node whose current certificate this is, or null.
   * @param thumbprint is the SHA-256 in upper-case hexadecimal digits
   */
  byThumbprint(thumbprint: string): KnownNode | null {
    this.feed.catchUp('recent');
    const known = this.known.get(thumbprint);
    if (known?.generation === this.feed.generation) return known;
    if (known === undefined) return this.find(thumbprint);
    const { generation } = this.feed;
    return this.remember(thumbprint, withGeneration(known, generation, this.isAlone ? known : UNMARKED));
  }

  /** The same facts, for requests of users about a node. */
  byNodeId(nodeId: string): KnownNode | null {
    const row = this.byId.get(nodeId);
    return row ? toKnownNode(row) : null;
  }

  /** The id of the node of this id or fqdn, in any case, or null. A node of this id goes before one of this fqdn. */
  findId(text: string): string | null {
    if (isId(text) && this.idIfKnown.get(text) !== undefined) return text;
    const fqdn = normalizeHostName(text);
    return fqdn === null ? null : (this.idByFqdn.get(fqdn) ?? null);
  }

  /** Whether the node has announced a certificate by one of its two thumbprints, no matter how long ago. */
  hasAnnounced(nodeId: string, thumbprint: string, sha1Thumbprint: string): boolean {
    return this.announced.get(nodeId, thumbprint, sha1Thumbprint) !== undefined;
  }

  /** The scopes of a node in the order of merging. They are read once for each node that is remembered. */
  scopesOf(node: KnownNode): ScopeLink[] {
    node.scopes ??= this.readScopes(node.nodeId);
    const { shared: links, fqdn } = node.scopes;
    return links.map((link) =>
      link.scopeTypeId === NODE_SCOPE_TYPE_ID ? { ...link, scopeValue: fqdn } : link,
    );
  }

  private readScopes(nodeId: string): KnownScopes {
    const rows = this.scopes.all(nodeId);
    return { shared: this.share(rows.map(([, ...row]) => row)), fqdn: rows[0]?.[0] ?? '' };
  }

  private share(rows: readonly SharedRow[]): readonly ScopeLink[] {
    return shared(this.lists, rows.join(), () =>
      rows.map((row) => shared(this.links, row.join(), () => toScopeLink(row))),
    );
  }

  private forgetAll(): void {
    for (const map of [this.known, this.links, this.lists]) map.clear();
  }

  private find(thumbprint: string): KnownNode | null {
    const row = this.statement.get(thumbprint);
    return row ? this.remember(thumbprint, toKnownNode(row)) : null;
  }

  private remember(thumbprint: string, node: KnownNode): KnownNode {
    this.known.set(thumbprint, node);
    return node;
  }
}

/** The value that is in the map under this key, or else a new one. */
function shared<V extends object>(map: RecentMap<string, V>, key: string, make: () => V): V {
  const known = map.get(key);
  if (known) return known;
  const made = make();
  map.set(key, made);
  return made;
}

function toKnownNode(row: Row): KnownNode {
  const [nodeId, certificateNotAfter, pendingNotAfter, configurationId, compositeId] = row;
  const [, , , , , majorVersion, prereleaseChannel, version, generation] = row;
  const assignment =
    configurationId === null && compositeId === null
      ? null
      : { configurationId, compositeId, majorVersion, prereleaseChannel, version };
  const known = { nodeId, certificateNotAfter, pendingNotAfter, assignment, generation, scopes: null };
  return withGeneration(known, generation, UNMARKED);
}

type Marks = Pick<KnownNode, 'notedEtag' | 'notedAs' | 'notedServed'>;

/** Nothing is noted yet. */
const UNMARKED: Marks = { notedEtag: null, notedAs: POLL_EVIDENCE.none, notedServed: null };

/** A copy, because calls in progress rely on what the node was. V8 takes longer to copy an object by `...`. */
function withGeneration(node: Omit<KnownNode, keyof Marks>, generation: number, marks: Marks): KnownNode {
  const { nodeId, certificateNotAfter, pendingNotAfter, assignment, scopes } = node;
  const { notedEtag, notedAs, notedServed } = marks;
  return {
    nodeId,
    certificateNotAfter,
    pendingNotAfter,
    assignment,
    generation,
    scopes,
    notedEtag,
    notedAs,
    notedServed,
  };
}

function toScopeLink([scopeTypeId, scopeTypeName, precedence, scopeValue]: SharedRow): ScopeLink {
  return { scopeTypeId, scopeTypeName, scopeValue, precedence };
}
