/** Which versions an assignment gives: that of what is assigned, and those of the children of a composite. */

import type { CompositeChild, CompositeDocument } from '../domain/composite-document.ts';
import type { VersionConstraint } from '../domain/version-choice.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import type { RepositoryRef, SeriesIndex, VersionIndex, VersionRef } from '../versions/store.ts';
import type { CompositeReader } from './composites.ts';
import {
  type ByNode,
  byClosedFiles,
  type Candidates,
  type ClosedFiles,
  candidatesIn,
  fork,
} from './open-versions.ts';

export interface WantedVersion extends VersionConstraint {
  /** The only version that is admitted; null pins nothing. */
  version: string | null;
}

export interface GivenVersions {
  repository: RepositoryRef;
  tag: VersionRef;
  files: GivenFiles;
  /** Null for a configuration. */
  composite: { document: CompositeDocument; children: readonly GivenChild[] } | null;
}

export interface GivenChild {
  child: CompositeChild;
  /** Null where no version fits. */
  tag: VersionRef | null;
  files: GivenFiles;
}

/** The parameter files among which those of a node are chosen. */
export interface GivenFiles {
  /** Gives null where there are none to choose from. It throws what reading them has thrown. */
  parameters(): SeriesIndex | null;
  closed: ClosedFiles;
}

const NO_FILES: GivenFiles = { parameters: () => null, closed: [] };

export interface GivenReaders {
  versions(repository: RepositoryRef): Promise<VersionIndex>;
  /** The parameter files of a configuration as they are now, as `GivenFiles` has them. It rejects only where nothing can be told. */
  parameters(configurationName: string): Promise<GivenFiles['parameters']>;
  composites: Pick<CompositeReader, 'document'>;
}

/** The pinned version while it is published, even if it is withdrawn or rolls out; else null. */
export function findPinned(index: VersionIndex, version: string): VersionRef | null {
  const pinned = index.get(version);
  return pinned?.status === 'Published' ? pinned : null;
}

/** Among which versions a node gets the highest that is open to it. A pinned one is open to whoever is pinned to it. */
export function candidatesFor(index: VersionIndex, wanted: WantedVersion): Candidates {
  if (wanted.version === null) return candidatesIn(index, wanted);
  return { rolling: [], last: findPinned(index, wanted.version) };
}

/**
 * Goes on with what an assignment gives; null where no version fits.
 * @throws HawserError what the readers throw
 */
export function byVersions<T>(
  readers: GivenReaders,
  repository: RepositoryRef,
  wanted: WantedVersion,
  lead: (given: GivenVersions | null) => Awaitable<T>,
): Promise<ByNode<T>> {
  return byVersion<T>(readers, repository, wanted, async (tag, files) => {
    if (tag === null) return lead(null);
    if (repository.kind === 'configurations') return lead({ repository, tag, files, composite: null });
    const document = await readers.composites.document(repository, tag);
    return byChildren<T>(readers, document.children, wanted, (children) =>
      lead({ repository, tag, files, composite: { document, children } }),
    );
  });
}

/** A child that is not pinned gets the version that the node's channel admits, of its major where it has one. */
function byChildren<T>(
  readers: GivenReaders,
  [child, ...rest]: readonly CompositeChild[],
  wanted: WantedVersion,
  lead: (children: readonly GivenChild[]) => Awaitable<ByNode<T>>,
): Awaitable<ByNode<T>> {
  if (child === undefined) return lead([]);
  const repository = { kind: 'configurations', name: child.configuration } as const;
  return byVersion<T>(readers, repository, wantedOf(child, wanted), (tag, files) =>
    byChildren<T>(readers, rest, wanted, (others) => lead([{ child, tag, files }, ...others])),
  );
}

/** What a node with this channel wants of a child. */
export function wantedOf(
  { version, majorVersion }: CompositeChild,
  { prereleaseChannel }: Pick<WantedVersion, 'prereleaseChannel'>,
): WantedVersion {
  return { version, majorVersion, prereleaseChannel };
}

/** Goes on with the version of one configuration or composite; null where none fits. */
export async function byVersion<T>(
  readers: Pick<GivenReaders, 'versions' | 'parameters'>,
  repository: RepositoryRef,
  wanted: WantedVersion,
  lead: (tag: VersionRef | null, files: GivenFiles) => Awaitable<ByNode<T>>,
): Promise<ByNode<T>> {
  const isConfiguration = repository.kind === 'configurations';
  // They are read first, as a file that rolls out is there only once its rollout is.
  const parameters = isConfiguration ? await readers.parameters(repository.name) : NO_FILES.parameters;
  const index = await readers.versions(repository);
  return fork(repository, candidatesFor(index, wanted), (tag) => {
    if (tag === null || !isConfiguration) return lead(tag, NO_FILES);
    return byClosedFiles(repository, index, orNull(parameters), (closed) =>
      lead(tag, { parameters, closed }),
    );
  });
}

/** What cannot be read is told by whoever needs it. */
function orNull(parameters: GivenFiles['parameters']): SeriesIndex | null {
  try {
    return parameters();
  } catch {
    return null;
  }
}

/** Whether a node gets anything: without one of its children a composite gives nothing at all. */
export function isWhole(given: GivenVersions | null): given is GivenVersions {
  return given !== null && (given.composite?.children.every(({ tag }) => tag !== null) ?? true);
}

/** Whether the version is withdrawn: what is pinned to it still gets it, and nothing can be pinned to it anew. */
export function isWithdrawn(ref: VersionRef): boolean {
  return ref.withdrawn !== null;
}
