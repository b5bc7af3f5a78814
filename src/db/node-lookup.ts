/**
 * What a poll asks the database: the node that holds a certificate, its assignment, its scopes, and the generation. A node
 * is read once and remembered until the change feed names its certificate. It is kept beyond that for as long as the
 * certificate is current, for polls while the database is away.
 */

import { normalizeHostName } from '../domain/names.ts';
import { NODE_SCOPE_TYPE_ID } from '../domain/scopes.ts';
import type { FileOwner } from '../domain/version-choice.ts';
import { type Awaitable, andThen } from '../lib/awaitable.ts';
import { unauthenticated } from '../lib/errors.ts';
import { isId } from '../lib/ids.ts';
import { RecentMap } from '../lib/recent-map.ts';
import { AwaitingCertificates } from './awaiting-certificates.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { NodeReader, NodeRow, ScopeRow, SharedRow } from './node-reader.ts';

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
  /** The epoch of the look-up in which this holds, for the look-up alone; `PAST` once something has changed. */
  epoch: number;
  /** Null until they are asked for. `scopesOf` gives the scopes of the node. */
  scopes: KnownScopes | null;
  /**
   * The ETag of the last poll whose evidence is noted, and what it told. It is forgotten when a report has written
   * evidence of another checksum. Where other servers serve the node too, it is also forgotten with each generation.
   */
  notedEtag: string | null;
  notedAs: PollEvidence;
  /** The checksum of the bundle of which it is noted that the node got it whole. It is forgotten with the two above. */
  notedServed: string | null;
  /** The error of the last poll, of which it is noted that it was answered with it. It is forgotten with those above. */
  notedProblem: string | null;
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
  /** The id of the value; null for Default, and for Node, where the owner says it. */
  scopeValueId: string | null;
  precedence: number;
  /** The node, for the scope of Node. Absent in what nodes share. */
  owner?: FileOwner;
}

/** A node of which its scopes are asked. */
export type AskedNode = Pick<KnownNode, 'nodeId' | 'scopes'>;

interface KnownScopes {
  /** The scopes as nodes with the same tags share them, so without the name of this node. */
  shared: readonly ScopeLink[];
  /** A node has the same name for as long as it exists, and so has no other before or after it meanwhile. */
  fqdn: string;
  owner: FileOwner;
}

/**
 * This is more than a fleet has, because in a smaller cache nodes that poll in turn would push each other out. A node
 * takes some 500 bytes here.
 */
export const MAX_NODES = 250_000;

/** The epoch of a node that must be read again. */
const PAST = -1;

/** The number of recent certificates that have ended, with which polls are refused while the database is away. */
const MAX_ENDED = 5_000;
const ENDED = {};

/** The answer is the same whether nobody has announced the certificate, or other nodes have. */
export const unknownCertificate = () => unauthenticated('No node is registered with this certificate');

/** The number of recent scopes, and of combinations of them, that nodes share. Nodes with others have their own. */
const MAX_SHARED = 5_000;

export class NodeLookup {
  private readonly reader: NodeReader;
  private readonly feed: ChangeFeed;
  private readonly isAlone: boolean;
  private readonly awaiting: AwaitingCertificates;
  /** Nodes by the thumbprint of their current certificate. The feed says when an entry is no longer valid. */
  private readonly known = new RecentMap<string, KnownNode>(MAX_NODES);
  /** Rises when what is known of all nodes must be read again. */
  private epoch = 0;
  /** Thumbprints that are those of no node any more, as the feed tells. */
  private readonly ended = new RecentMap<string, object>(MAX_ENDED);
  /** The certificates that this process has left nodes, until these are read again: a node has no other one since. */
  private readonly left = new RecentMap<string, { thumbprint: string | null }>(MAX_ENDED);
  /** Scopes and lists of them by their rows as text, so that equal ones are in memory once. */
  private readonly links = new RecentMap<string, ScopeLink>(MAX_SHARED);
  private readonly lists = new RecentMap<string, readonly ScopeLink[]>(MAX_SHARED);
  /**
   * Rises when the feed ends what may be remembered. What was read while it rose may be older than what the feed told of,
   * so it is used once and not remembered.
   */
  private ends = 0;

  /** @param isAlone tells that no other server serves nodes, so that what this one has noted stays true */
  constructor(reader: NodeReader, feed: ChangeFeed, isAlone = false) {
    this.reader = reader;
    this.feed = feed;
    this.isAlone = isAlone;
    this.awaiting = new AwaitingCertificates(reader, feed);
    feed.subscribe({
      onChange: (kind, key, owner) => {
        if (kind === 'certificates') this.forget(key, owner);
        if (kind === 'scopes') this.forgetAll();
      },
      onLost: (isUnsure) => {
        this.forgetAll();
        // Certificates may be among what is no longer listed.
        if (!isUnsure) for (const map of [this.known, this.ended]) map.clear();
      },
    });
  }

  /**
   * Must be called after each commit of this process that has ended a node's certificate. The feed tells of it as well,
   * but not once the database has gone away.
   * @param thumbprint is that of the only certificate that the node has since; null for a node that was deleted
   */
  noteEnded(nodeId: string, thumbprint: string | null): void {
    this.ends += 1;
    this.left.set(nodeId, { thumbprint });
  }

  /**
   * The node whose current certificate this is, or null. What is in memory comes without a promise and without a closure,
   * because each poll asks. While the database is away, it is the node as it was last known.
   * @param thumbprint is the SHA-256 in upper-case hexadecimal digits
   * @throws HawserError unauthenticated if the database is away and the certificate is known to have ended
   */
  byThumbprint(thumbprint: string): Awaitable<KnownNode | null> {
    const caughtUp = this.feed.catchUp('recent');
    return caughtUp instanceof Promise ? this.knownAfter(caughtUp, thumbprint) : this.current(thumbprint);
  }

  /** The same facts, for requests of users about a node. */
  byNodeId(nodeId: string): Awaitable<KnownNode | null> {
    const { generation } = this.feed;
    return andThen(this.reader.byNodeId(nodeId), (row) =>
      row ? toKnownNode(row, { generation, epoch: PAST }) : null,
    );
  }

  /** The id of the node of this id or fqdn, in any case, or null. A node of this id goes before one of this fqdn. */
  findId(text: string): Awaitable<string | null> {
    const isNodeId = isId(text) && this.reader.isNodeId(text);
    return andThen(isNodeId, (isKnown) => (isKnown ? text : this.idByName(text)));
  }

  /** Whether the node has announced a certificate by one of its two thumbprints, no matter how long ago. */
  hasAnnounced(nodeId: string, thumbprint: string, sha1Thumbprint: string): Awaitable<boolean> {
    return this.reader.hasAnnounced(nodeId, thumbprint, sha1Thumbprint);
  }

  /** Whether a node that came from another server may await the certificate. What says no costs no read. */
  mayAwait(sha1Thumbprint: string): Awaitable<boolean> {
    return this.awaiting.has(sha1Thumbprint);
  }

  /** The scopes of a node in the order of merging. They are read once for each node that is remembered. */
  scopesOf(node: AskedNode): Awaitable<ScopeLink[]> {
    const { nodeId } = node;
    if (node.scopes !== null) return linksOf(node.scopes);
    return andThen(this.reader.scopesOf(nodeId), (rows) => {
      // If scopes have changed meanwhile, the node itself is no longer remembered.
      node.scopes = this.toScopes(nodeId, rows);
      return linksOf(node.scopes);
    });
  }

  private async knownAfter(caughtUp: Promise<void>, thumbprint: string): Promise<KnownNode | null> {
    await caughtUp;
    return this.current(thumbprint);
  }

  private current(thumbprint: string): Awaitable<KnownNode | null> {
    const known = this.known.get(thumbprint);
    const { generation, isAway } = this.feed;
    const kept = isAway ? this.kept(thumbprint) : undefined;
    if (kept !== undefined) return kept;
    if (known?.epoch !== this.epoch)
      return this.feed.orKept(
        () => this.find(thumbprint),
        () => this.kept(thumbprint),
      );
    if (known.generation === generation) return known;
    return this.remember(thumbprint, withGeneration(known, generation, this.isAlone ? known : UNMARKED));
  }

  /** The node as it was last known. @throws HawserError unauthenticated for a certificate that has ended */
  private kept(thumbprint: string): KnownNode | undefined {
    if (this.ended.get(thumbprint) !== undefined) throw unknownCertificate();
    const known = this.known.get(thumbprint);
    const left = known && this.left.get(known.nodeId);
    if (left !== undefined && left.thumbprint !== thumbprint) throw unknownCertificate();
    return known;
  }

  private find(thumbprint: string): Awaitable<KnownNode | null> {
    const { ends, epoch } = this;
    // What is made of the row may be newer than this generation says, and never older.
    const { generation } = this.feed;
    return andThen(this.reader.byThumbprint(thumbprint), (row) => {
      if (row === undefined) {
        this.known.delete(thumbprint);
        return null;
      }
      const node = toKnownNode(row, { generation, epoch });
      if (ends !== this.ends) return node;
      this.ended.delete(thumbprint);
      this.left.delete(node.nodeId);
      return this.remember(thumbprint, node);
    });
  }

  private remember(thumbprint: string, node: KnownNode): KnownNode {
    this.known.set(thumbprint, node);
    return node;
  }

  private forget(thumbprint: string, owner: string | null | undefined): void {
    this.ends += 1;
    const known = this.known.get(thumbprint);
    if (known !== undefined && known.nodeId === owner) known.epoch = PAST;
    else this.known.delete(thumbprint);
    if (owner === null) this.ended.set(thumbprint, ENDED);
    else this.ended.delete(thumbprint);
  }

  private forgetAll(): void {
    this.ends += 1;
    this.epoch += 1;
    for (const map of [this.links, this.lists]) map.clear();
  }

  private idByName(text: string): Awaitable<string | null> {
    const fqdn = normalizeHostName(text);
    return fqdn === null ? null : andThen(this.reader.idByFqdn(fqdn), (id) => id ?? null);
  }

  private toScopes(nodeId: string, rows: readonly ScopeRow[]): KnownScopes {
    const [fqdn = '', isSuccessor] = rows[0] ?? [];
    const owner = { nodeId, isSuccessor: isSuccessor === 1 };
    return { shared: this.share(rows.map(([, , ...row]) => row)), fqdn, owner };
  }

  private share(rows: readonly SharedRow[]): readonly ScopeLink[] {
    return shared(this.lists, rows.join(), () =>
      rows.map((row) => shared(this.links, row.join(), () => toScopeLink(row))),
    );
  }
}

/** The links are shared, apart from the one that has the name of the node. */
function linksOf({ shared: links, fqdn, owner }: KnownScopes): ScopeLink[] {
  return links.map((link) => ownScope(link, fqdn, owner));
}

/** The scope of the node itself, from the link that all nodes share. */
export function ownScope(link: ScopeLink, fqdn: string, owner: FileOwner): ScopeLink {
  return link.scopeTypeId === NODE_SCOPE_TYPE_ID ? { ...link, scopeValue: fqdn, owner } : link;
}

/** The id of the scope value or of the node, to which the files of the scope belong; empty for Default. */
export function ownerIdOf({ owner, scopeValueId }: Pick<ScopeLink, 'owner' | 'scopeValueId'>): string {
  return owner?.nodeId ?? scopeValueId ?? '';
}

/** The value that is in the map under this key, or else a new one. */
function shared<V extends object>(map: RecentMap<string, V>, key: string, make: () => V): V {
  const known = map.get(key);
  if (known) return known;
  const made = make();
  map.set(key, made);
  return made;
}

function toKnownNode(row: NodeRow, read: Pick<KnownNode, 'generation' | 'epoch'>): KnownNode {
  const [nodeId, certificateNotAfter, pendingNotAfter, configurationId, compositeId] = row;
  const [, , , , , majorVersion, prereleaseChannel, version] = row;
  const assignment =
    configurationId === null && compositeId === null
      ? null
      : { configurationId, compositeId, majorVersion, prereleaseChannel, version };
  const known = { nodeId, certificateNotAfter, pendingNotAfter, assignment, scopes: null, ...read };
  return withGeneration(known, read.generation, UNMARKED);
}

type Marks = Pick<KnownNode, 'notedEtag' | 'notedAs' | 'notedServed' | 'notedProblem'>;

/** Nothing is noted yet. */
const UNMARKED: Marks = {
  notedEtag: null,
  notedAs: POLL_EVIDENCE.none,
  notedServed: null,
  notedProblem: null,
};

/** A copy, because calls in progress rely on what the node was. V8 takes longer to copy an object by `...`. */
function withGeneration(node: Omit<KnownNode, keyof Marks>, generation: number, marks: Marks): KnownNode {
  const { nodeId, certificateNotAfter, pendingNotAfter, assignment, epoch, scopes } = node;
  const { notedEtag, notedAs, notedServed, notedProblem } = marks;
  return {
    nodeId,
    certificateNotAfter,
    pendingNotAfter,
    assignment,
    generation,
    epoch,
    scopes,
    notedEtag,
    notedAs,
    notedServed,
    notedProblem,
  };
}

function toScopeLink([
  scopeTypeId,
  scopeTypeName,
  precedence,
  scopeValue,
  scopeValueId,
]: SharedRow): ScopeLink {
  return { scopeTypeId, scopeTypeName, scopeValue, scopeValueId, precedence };
}

/** The scope of the link, by ids. */
export function idsOfLink({ scopeTypeId, scopeValueId, owner }: ScopeLink) {
  return { scopeTypeId, scopeValueId: owner?.nodeId ?? scopeValueId };
}
