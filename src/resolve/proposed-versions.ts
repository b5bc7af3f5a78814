/**
 * Versions as they would be: over what is stored, some drafts count as published, and some parameter files are there that
 * are stored nowhere. Nothing is written. Whoever reads through it gets what they would get after the changes.
 */

import { isVersion } from '../domain/version-order.ts';
import type { BlobInfo, RepositoryKind, RepositoryRef, StoredFile } from '../git/types.ts';
import { conflict, notFound } from '../lib/errors.ts';
import { sha256Hex } from '../lib/hash.ts';
import type { ParameterContentType, ParameterDetails } from '../versions/parameter-files.ts';
import type { SeriesLists } from '../versions/repository-index.ts';
import type { SortedVersions } from '../versions/sorted-versions.ts';
import { ONLY_SERIES, type VersionDetails, type VersionRef } from '../versions/types.ts';
import type { ParameterSource, VersionSource } from '../versions/version-source.ts';

/** A draft that counts as published. */
export interface PublishedDraft {
  kind: RepositoryKind;
  /** The name of the repository. */
  name: string;
  /** `ONLY_SERIES`, or for parameters the name that `seriesOf` gives. */
  series: string;
  version: string;
  /** The node for which it is published; absent where it is for no node. */
  nodeId?: string | undefined;
}

/** A parameter file that counts as published. It stands in for a draft of its version. */
export interface ProposedFile {
  configurationName: string;
  /** The name that `seriesOf` gives. */
  series: string;
  version: string;
  nodeId?: string | undefined;
  /** It is null if the file skips its scope on purpose. */
  content: { type: ParameterContentType; bytes: Uint8Array } | null;
}

/** A published version that counts as withdrawn, or as offered again. */
export interface ProposedOffer {
  kind: RepositoryKind;
  name: string;
  /** The series of the version, as a draft names it. */
  series: string;
  version: string;
  isOffered: boolean;
}

/** What the changes make of versions. No version is in the first two twice; of offers the last one counts. */
export interface ProposedChanges {
  published: readonly PublishedDraft[];
  files: readonly ProposedFile[];
  offers?: readonly ProposedOffer[];
}

/** Begins the object id of a proposed file, so that it is none that Git makes. */
const PROPOSED = 'proposed-';

export class ProposedVersions implements VersionSource {
  readonly parameters: ParameterSource;
  private readonly stored: VersionSource;
  /** Proposed files by the object id that stands for their content. */
  private readonly files = new Map<string, ProposedFile>();
  /** What is proposed in each repository, by kind and name. */
  private readonly proposals = new Map<string, ProposedSeries>();

  constructor(stored: VersionSource, { published, files, offers = [] }: ProposedChanges) {
    this.stored = stored;
    for (const { kind, name, ...draft } of published) this.proposalIn({ kind, name }).drafts.push(draft);
    for (const { kind, name, ...offer } of offers) this.proposalIn({ kind, name }).offers.push(offer);
    for (const file of files) {
      const ref = refOfFile(file);
      this.files.set(ref.oid, file);
      this.proposalIn({ kind: 'parameters', name: file.configurationName }).refs.push(ref);
    }
    this.parameters = {
      index: (name) => this.indexOfParameters(name),
      details: (name, ref) => this.detailsOfParameters(name, ref),
      content: async (name, ref) => {
        const file = this.files.get(ref.oid);
        if (file) return file.content && Buffer.from(file.content.bytes);
        return stored.parameters.content(name, asStored(ref));
      },
    };
  }

  list(kind: RepositoryKind): Promise<string[]> {
    return this.stored.list(kind);
  }

  async has(ref: RepositoryRef): Promise<boolean> {
    return (this.proposals.get(keyOf(ref))?.refs.length ?? 0) > 0 || this.stored.has(ref);
  }

  /** @throws HawserError not_found if a draft that is to count as published has gone */
  async versions(ref: RepositoryRef): Promise<SortedVersions> {
    const versions = await this.stored.versions(ref);
    return this.proposals.get(keyOf(ref))?.over(ONLY_SERIES, versions) ?? versions;
  }

  async details(ref: RepositoryRef, version: VersionRef): Promise<VersionDetails> {
    const details = await this.stored.details(ref, asStored(version));
    return { ...details, status: version.status };
  }

  blob(ref: RepositoryRef, oid: string): Promise<Buffer> {
    return this.stored.blob(ref, oid);
  }

  fileInfos(ref: RepositoryRef, files: readonly Pick<StoredFile, 'oid'>[]): Promise<BlobInfo[]> {
    return this.stored.fileInfos(ref, files);
  }

  private proposalIn(ref: RepositoryRef): ProposedSeries {
    const known = this.proposals.get(keyOf(ref)) ?? new ProposedSeries();
    this.proposals.set(keyOf(ref), known);
    return known;
  }

  private async indexOfParameters(name: string): Promise<SeriesLists> {
    const stored = await this.stored.parameters.index(name);
    const proposal = this.proposals.get(keyOf({ kind: 'parameters', name }));
    return proposal === undefined ? stored : proposal.index(stored);
  }

  private async detailsOfParameters(name: string, ref: VersionRef): Promise<ParameterDetails> {
    const file = this.files.get(ref.oid);
    if (file) return detailsOf(file, ref.oid);
    return { ...(await this.stored.parameters.details(name, asStored(ref))), status: ref.status };
  }
}

/** What is proposed in one repository. */
class ProposedSeries {
  readonly drafts: Omit<PublishedDraft, 'kind' | 'name'>[] = [];
  readonly refs: VersionRef[] = [];
  readonly offers: Omit<ProposedOffer, 'kind' | 'name'>[] = [];
  /** The last versions of each series. Readers compare such lists by identity. */
  private readonly made = new Map<string, { stored: SortedVersions; versions: SortedVersions }>();

  over(series: string, stored: SortedVersions): SortedVersions {
    const isMeant = [...this.drafts, ...this.refs, ...this.offers].some((each) => each.series === series);
    if (!isMeant) return stored;
    const known = this.made.get(series);
    if (known?.stored === stored) return known.versions;
    const changes = new Map<string, VersionRef>();
    for (const draft of this.drafts)
      if (draft.series === series)
        changes.set(draft.version, asPublished(stored, draft.version, draft.nodeId));
    for (const ref of this.refs)
      if (ref.series === series) changes.set(ref.version, requireUnpublished(stored, ref));
    for (const { series: own, version, isOffered } of this.offers) {
      if (own !== series) continue;
      const ref = changes.get(version) ?? asPublished(stored, version);
      changes.set(version, { ...ref, withdrawn: isOffered ? null : (ref.withdrawn ?? PROPOSED_WITHDRAWAL) });
    }
    const versions = stored.with(changes);
    this.made.set(series, { stored, versions });
    return versions;
  }

  index(stored: SeriesLists): SeriesLists {
    const added = this.refs.map(({ series }) => series);
    return {
      of: (series) => this.over(series, stored.of(series)),
      get series() {
        return [...new Set([...stored.series, ...added])];
      },
    };
  }
}

const PROPOSED_WITHDRAWAL = { tag: PROPOSED, at: 0, by: '', reason: '' } as const;

function asPublished(stored: SortedVersions, version: string, nodeId?: string): VersionRef {
  const ref = stored.get(version);
  if (ref === undefined) throw notFound(`The draft ${version} has been deleted meanwhile`);
  return ref.status === 'Published' ? ref : { ...ref, status: 'Published', nodeId };
}

/** The ref by which the objects of a version are read: that of the draft. The branch of a draft is no tag. */
function asStored(ref: VersionRef): VersionRef {
  const isDraft = ref.status === 'Published' && ref.oid === ref.commit;
  return isDraft ? { ...ref, status: 'Draft' } : ref;
}

function requireUnpublished(stored: SortedVersions, ref: VersionRef): VersionRef {
  if (stored.get(ref.version)?.status === 'Published')
    throw conflict('published_version', `The version ${ref.version} has been published meanwhile`);
  return ref;
}

/** The ref of a file that is stored nowhere. Its object id stands for all that a reader can see of it. */
function refOfFile({ series, version, nodeId, content }: ProposedFile): VersionRef {
  const bytes = content === null ? 'passthrough' : `${content.type} ${sha256Hex(content.bytes)}`;
  const oid = `${PROPOSED}${sha256Hex(JSON.stringify([series, version, bytes]))}`;
  const ref = {
    name: '',
    series,
    version,
    status: 'Published',
    oid,
    commit: null,
    withdrawn: null,
    rollout: null,
    nodeId,
  } as const;
  // It is the newest of those that are ordered by their age.
  return isVersion(version) ? ref : { ...ref, createdAt: Number.MAX_SAFE_INTEGER };
}

function detailsOf({ version, content }: ProposedFile, oid: string): ParameterDetails {
  return {
    ...{ version, status: 'Published', isPassthrough: content === null },
    ...{
      commit: '',
      createdAt: 0,
      createdBy: '',
      changedAt: 0,
      changedBy: '',
      author: null,
      signature: null,
      publishedAt: null,
      publishedBy: null,
      withdrawn: null,
      rollout: null,
      message: null,
    },
    ...{ contentType: content?.type ?? null, oid: content && oid },
    ...{ size: content?.bytes.byteLength ?? 0, sha256: sha256Hex(content?.bytes ?? '') },
  };
}

function keyOf({ kind, name }: RepositoryRef): string {
  return `${kind}/${name}`;
}
