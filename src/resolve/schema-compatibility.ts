/** Whether a version's schema is compatible with those before it, and what it means for the stored files. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '../db/database.ts';
import { NamesOfScopes, restrictedScopes } from '../db/scope-grants.ts';
import type { AffectedParameterFile, CompatibilityReport, SchemaChanges } from '../domain/compatibility.ts';
import { type Finding, inOrder, isError } from '../domain/findings.ts';
import type { DocumentChecks } from '../domain/server-settings.ts';
import type { VariableValues } from '../domain/variables.ts';
import { chooseVersion, isOfMajorUpTo } from '../domain/version-choice.ts';
import { compareVersions, type Major, majorOf } from '../domain/version-order.ts';
import { conflict, type HawserError } from '../lib/errors.ts';
import { contentNamed } from '../security/rights.ts';
import { scopesIn, seriesOf } from '../versions/parameter-files.ts';
import type { ParameterScope, VersionDetails, VersionRef } from '../versions/store.ts';
import { compositesThatFollow } from './composite-findings.ts';
import type { CompositeReader } from './composites.ts';
import { schemaIn } from './declared.ts';
import type { DocumentSource } from './document-tasks.ts';
import type { DocumentRunner } from './documents.ts';
import { findingsIn, includesForFollowers, type KnownEntryPoint, type Surroundings } from './entry-points.ts';
import { variablesKnownTo } from './known-variables.ts';
import { readOfferedFiles } from './offered-files.ts';
import type { ParameterReader } from './parameters.ts';
import type { SchemaReader, SchemaVersion } from './schemas.ts';

interface Candidate {
  version: string;
  /** Null means that the version declares no parameters. */
  schema: DocumentSource | null;
  isUpload: boolean;
  /** The caller in whose turn documents are read. */
  caller: string;
}

/** How a version is judged. */
export interface Judging {
  /** Whether the server manages the parameters of the configuration. */
  isManaged: boolean;
  /** What becomes of a document that dsc cannot read. */
  documentChecks: DocumentChecks;
  /** Whether a `parameters` block that cannot be read is refused, or is unknown. */
  isStrict: boolean;
  /** The one in whose turn documents are read. */
  caller: string;
}

/** The entry point of a version that is not stored yet. */
interface NewVersion {
  version: string;
  entryPoint: string;
  files: VersionDetails['files'];
  oid: string;
  load: () => Promise<Buffer>;
}

interface GuardReaders {
  database: Pick<Database, 'read'>;
  parameters: ParameterReader;
  documents: DocumentRunner;
  composites: CompositeReader;
}

/** The schemas of two versions, compared. */
interface Comparison {
  oldVersion: string;
  candidate: Candidate;
  changes: SchemaChanges;
  /** True if something breaks although the major version stays. */
  isBreaking: boolean;
}

/** What publishing a draft meets. */
export interface Compatibility {
  /**
   * At most one: conflict `document_unreadable` or `validation_failed`, each with errors, or `incompatible_parameters`
   * with `compatibilityReport`.
   */
  blockers: readonly HawserError[];
  /** What the entry point is found to be. */
  findings: readonly Finding[];
  /** Tells what changes, also where that blocks nothing; null where nothing could be compared. */
  report(): Promise<CompatibilityReport | null>;
}

/** The lowest channel there is. It admits every published prerelease. */
const ANY_PRERELEASE = '0';

/** Nothing could be compared, so nothing blocks. */
export const NOT_COMPARED: Compatibility = { blockers: [], findings: [], report: async () => null };

/**
 * A schema that breaks with the one before it needs a higher major, also below 1.0.0. A version that is no SemVer has no
 * major, so the rule does not apply to it.
 */
export class CompatibilityGuard {
  private readonly schemas: SchemaReader;
  private readonly database: GuardReaders['database'];
  private readonly parameters: ParameterReader;
  private readonly documents: DocumentRunner;
  private readonly composites: CompositeReader;

  constructor(schemas: SchemaReader, { database, parameters, documents, composites }: GuardReaders) {
    this.schemas = schemas;
    this.database = database;
    this.parameters = parameters;
    this.documents = documents;
    this.composites = composites;
  }

  /**
   * Compares a draft with the highest published version below it. A version that is missing, or is published, has no
   * blocker here; the caller refuses those.
   */
  async judgeDraft(configurationName: string, version: string, judging: Judging): Promise<Compatibility> {
    const draft = await this.schemas.find(configurationName, version);
    if (draft?.configuration?.status !== 'Draft') return NOT_COMPARED;
    const details = await this.schemas.detailsOf(configurationName, draft.configuration);
    const known = await this.schemas.readEntryPoint(configurationName, details, judging.caller);
    return this.judgeRead(configurationName, details, { known, draft }, judging);
  }

  /** As `judgeDraft`, for a version that is not stored yet. */
  async judgeNew(
    configurationName: string,
    { version, entryPoint, files, oid, load }: NewVersion,
    judging: Judging,
  ): Promise<Compatibility> {
    const draft = await this.schemas.find(configurationName, version);
    const known = await this.schemas.readNew({ oid, caller: judging.caller, load });
    return this.judgeRead(configurationName, { version, entryPoint, files }, { known, draft }, judging);
  }

  /** What is found in the entry point of a stored version. */
  async findingsOf(
    configurationName: string,
    details: VersionDetails,
    { caller, isManaged }: Pick<Judging, 'caller' | 'isManaged'>,
  ): Promise<readonly Finding[]> {
    const known = await this.schemas.readEntryPoint(configurationName, details, caller);
    return findingsIn(known, { ...details, isManaged });
  }

  /** What is found in the entry point of a version that is not stored yet, and is not published. */
  async lookAtNew(
    { entryPoint, files, oid, load }: Omit<NewVersion, 'version' | 'files'> & Pick<Surroundings, 'files'>,
    { caller, isManaged }: Pick<Judging, 'caller' | 'isManaged'>,
  ): Promise<readonly Finding[]> {
    return findingsIn(await this.schemas.readNew({ oid, caller, load }), { entryPoint, files, isManaged });
  }

  private async judgeRead(
    configurationName: string,
    { version, ...around }: Pick<VersionDetails, 'version' | 'entryPoint' | 'files'>,
    { known, draft }: { known: KnownEntryPoint; draft: SchemaVersion | undefined },
    { isManaged, documentChecks, isStrict, caller }: Judging,
  ): Promise<Compatibility> {
    const findings = await this.publishFindings(configurationName, known, { version, ...around, isManaged });
    const none = { ...NOT_COMPARED, findings };
    const errors = findings.filter(isError);
    if (documentChecks === 'Strict' && errors.length > 0)
      return { ...none, blockers: [documentUnreadable(version, errors)] };
    if (!isManaged) return none;
    const isUpload = (draft?.upload ?? null) !== null;
    const declared = isUpload
      ? await this.schemas.read(configurationName, draft as SchemaVersion, caller)
      : known.declared;
    if (declared.kind === 'unknown') {
      const { fault } = declared;
      const isRefused = isStrict && fault !== null;
      return isRefused
        ? { ...none, blockers: [conflict('validation_failed', fault.message, fault.data)] }
        : none;
    }
    const before = await this.schemas.findPublished(configurationName, { version, isIncluded: false });
    const candidate = { version, schema: schemaIn(declared), isUpload, caller };
    const compared = await this.compare(configurationName, candidate, before);
    return { ...(await this.judge(configurationName, compared)), findings };
  }

  /** What is found in an entry point that is to be published, also by composites that follow the configuration. */
  private async publishFindings(
    configurationName: string,
    known: KnownEntryPoint,
    around: Surroundings & { version: string },
  ): Promise<readonly Finding[]> {
    const findings = findingsIn(known, around);
    if (known.includes.length === 0) return findings;
    const followers = await compositesThatFollow(this.composites, configurationName, around);
    if (followers.length === 0) return findings;
    return inOrder([...findings, ...includesForFollowers(known, around.entryPoint, followers)]);
  }

  /**
   * Accepts a schema that breaks nothing of the highest version before it. That is a published version, perhaps the one
   * that the schema is for, or an uploaded schema.
   * @throws HawserError conflict `incompatible_parameters` with `compatibilityReport`
   */
  async requireUploadable(
    configurationName: string,
    { version, schema, caller }: Omit<Candidate, 'isUpload'>,
  ): Promise<void> {
    const published = await this.schemas.findPublished(configurationName, { version, isIncluded: true });
    const uploads = await this.schemas.uploads(configurationName);
    const upload = uploads.find((each) => compareVersions(each.version, version) < 0);
    const isHigher = upload && (!published || compareVersions(upload.version, published.version) > 0);
    const before = isHigher ? await this.schemas.find(configurationName, upload.version) : published;
    const candidate = { version, schema, isUpload: true, caller };
    const comparison = await this.compare(configurationName, candidate, before);
    const { blockers } = await this.judge(configurationName, comparison);
    for (const blocker of blockers) throw blocker;
  }

  /**
   * The parameter files that do not fit a version that has just been published as the first of its major. Of each scope the
   * active file of the major is checked, or else that of the nearest lower major, because these are the files that its
   * nodes get. Later versions of a major break nothing. If a higher version of the major is published, the list is empty
   * too, because files are checked with that one's schema.
   * @param caller is the one in whose turn documents are read
   * @throws HawserError `repository_damaged`, or what else reading the files throws
   */
  async affectedFiles(
    configurationName: string,
    version: string,
    caller: string,
  ): Promise<AffectedParameterFile[]> {
    const major = majorOf(version);
    const before = await this.schemas.findPublished(configurationName, { version, isIncluded: false });
    if (major !== null && before && majorOf(before.version) === major) return [];
    const published = await this.schemas.find(configurationName, version);
    const declared = published && (await this.schemas.read(configurationName, published, caller));
    const schema = declared ? schemaIn(declared) : null;
    const inForce =
      major === null ? schema : schemaIn(await this.schemas.forMajor(configurationName, major, caller));
    if (schema === null || inForce?.key !== schema.key) return [];
    const candidate = { schema, caller };
    const files = await this.checkFiles(configurationName, candidate, (all) => fileForMajor(all, major));
    return files.filter(({ needsMigration }) => needsMigration);
  }

  private async compare(
    configurationName: string,
    candidate: Candidate,
    before: SchemaVersion | undefined,
  ): Promise<Comparison | null> {
    const major = majorOf(candidate.version);
    const readable = major === null ? null : await this.nearestReadable(configurationName, candidate, before);
    if (readable === null) return null;
    const { version: oldVersion, older } = readable;
    // An upload may be the first declaration.
    if (older === null && candidate.isUpload) return null;
    const schemas = { older, newer: candidate.schema };
    const changes = await this.documents.run(candidate.caller, 'compareSchemas', schemas);
    const isBreaking = changes.breakingChanges.length > 0 && majorOf(oldVersion) === major;
    return { oldVersion, candidate, changes, isBreaking };
  }

  /** The schema of this version, or of the nearest published one below it of which it is known. */
  private async nearestReadable(
    name: string,
    { caller }: Candidate,
    highest: SchemaVersion | undefined,
  ): Promise<{ version: string; older: DocumentSource | null } | null> {
    for (let at = highest; at !== undefined; ) {
      const { version } = at;
      const declared = await this.schemas.read(name, at, caller);
      if (declared.kind !== 'unknown') return { version, older: schemaIn(declared) };
      at = await this.schemas.findPublished(name, { version, isIncluded: false });
    }
    return null;
  }

  private async judge(configurationName: string, comparison: Comparison | null): Promise<Compatibility> {
    if (comparison === null) return NOT_COMPARED;
    if (!comparison.isBreaking)
      return { ...NOT_COMPARED, report: () => this.report(configurationName, comparison) };
    const compatibilityReport = await this.report(configurationName, comparison);
    const message = `The parameters break with those of ${comparison.oldVersion}, which takes a new major version`;
    const blocker = conflict('incompatible_parameters', message, { compatibilityReport });
    return { ...NOT_COMPARED, blockers: [blocker], report: async () => compatibilityReport };
  }

  private async report(
    configurationName: string,
    { oldVersion, candidate, changes }: Comparison,
  ): Promise<CompatibilityReport> {
    const major = majorOf(candidate.version);
    return {
      oldVersion,
      newVersion: candidate.version,
      hasBreakingChanges: changes.breakingChanges.length > 0,
      ...changes,
      affectedParameterFiles: await this.checkFiles(configurationName, candidate, (all) =>
        majorOf(oldVersion) === major ? activeFile(all, major) : fileForMajor(all, major),
      ),
    };
  }

  /**
   * Checks the file that `choose` takes of the published ones of each scope with the new schema. Of a restricted scope it tells
   * nobody what is wrong with the file, because that tells of its content.
   */
  private async checkFiles(
    name: string,
    candidate: Pick<Candidate, 'schema' | 'caller'>,
    choose: (published: readonly VersionRef[]) => VersionRef | null,
  ): Promise<AffectedParameterFile[]> {
    const index = await this.parameters.index(name);
    const files: AffectedParameterFile[] = [];
    const scopes = scopesIn(index).sort(byName);
    const { read } = this.database;
    const offered = await readOfferedFiles(read, scopes);
    const { configurations } = await contentNamed(read, { configurations: [name] });
    const restricted = await restrictedScopes(read, [configurations[0] ?? '']);
    const names = await NamesOfScopes.of(read, restricted);
    const variables = await variablesKnownTo(read, name);
    for (const scope of scopes) {
      const file = choose(offered(scope, index.of(seriesOf(scope)).published));
      if (file === null) continue;
      const checked = await this.checkFile(name, scope, file, { ...candidate, variables });
      const isHidden = restricted.some((each) => names.isOf(each, scope));
      files.push(isHidden ? { ...checked, errors: [] } : checked);
      // There may be a file for each node, and checks of files in memory never wait by themselves.
      await nextTurn();
    }
    return files;
  }

  private async checkFile(
    name: string,
    { scopeType: scopeTypeName, value: scopeValue }: ParameterScope,
    file: VersionRef,
    {
      schema,
      caller,
      variables,
    }: Pick<Candidate, 'schema' | 'caller'> & { variables: VariableValues | null },
  ): Promise<AffectedParameterFile> {
    const document = await this.parameters.source(name, file);
    const errors = document
      ? await this.documents.run(caller, 'checkDocument', { schema, document, isPartial: true, variables })
      : [];
    return { scopeTypeName, scopeValue, version: file.version, needsMigration: errors.length > 0, errors };
  }
}

/** dsc cannot read a document that is to be published. @param errors the findings of Error, of which there are some */
export function documentUnreadable(version: string, errors: readonly Finding[]): HawserError {
  const message = `dsc cannot read the document of ${version}. Correct it, or set \`documentChecks\` to Warn to publish it as it is`;
  return conflict('document_unreadable', message, { errors });
}

/** The highest published stable version of the major, else the highest published one. */
function activeFile(published: readonly VersionRef[], majorVersion: Major | null): VersionRef | null {
  const stable = chooseVersion(published, { majorVersion, prereleaseChannel: null });
  return stable ?? chooseVersion(published, { majorVersion, prereleaseChannel: ANY_PRERELEASE });
}

/** The active file of the major, else of the nearest lower one. Without a major, of the highest. */
function fileForMajor(published: readonly VersionRef[], major: Major | null): VersionRef | null {
  const highest = published.find(({ version }) => major === null || isOfMajorUpTo(version, major));
  return highest ? activeFile(published, majorOf(highest.version)) : null;
}

function byName(a: ParameterScope, b: ParameterScope): number {
  const [first, second] = [`${a.scopeType}/${a.value ?? ''}`, `${b.scopeType}/${b.value ?? ''}`];
  return first < second ? -1 : 1;
}
