/** Whether a version's schema may follow those before it, and what that would mean for the files that are there. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AffectedParameterFile, CompatibilityReport } from '../domain/compatibility.ts';
import { chooseVersion } from '../domain/version-choice.ts';
import { compareVersions, majorOf } from '../domain/version-order.ts';
import { conflict } from '../lib/errors.ts';
import { scopesIn, seriesOf } from '../versions/parameter-files.ts';
import type { ParameterScope, SeriesIndex, VersionRef } from '../versions/store.ts';
import type { DocumentSource } from './document-tasks.ts';
import type { Documents } from './documents.ts';
import type { ParameterReader } from './parameters.ts';
import type { SchemaReader, SchemaVersion } from './schemas.ts';

interface Candidate {
  version: string;
  /** Null where it declares no parameters. */
  schema: DocumentSource | null;
  isUpload: boolean;
  /** In whose turn documents are read. */
  caller: string;
}

/** The lowest channel there is: every prerelease that was published counts. */
const ANY_PRERELEASE = '0';

/**
 * A schema that breaks with the one before it needs a higher major (api.md section 6), below 1.0.0 too. A version
 * that is no SemVer has no major, and nothing to keep to.
 */
export class CompatibilityGuard {
  private readonly schemas: SchemaReader;
  private readonly parameters: ParameterReader;
  private readonly documents: Documents;

  constructor(schemas: SchemaReader, parameters: ParameterReader, documents: Documents) {
    this.schemas = schemas;
    this.parameters = parameters;
    this.documents = documents;
  }

  /**
   * Lets a draft pass that breaks nothing of the highest published version below it. One that is not there, or is
   * published, passes too: to refuse those is up to whoever publishes.
   * @param isStrict whether a `parameters` block that cannot be read is refused, in place of counting as none
   * @throws HawserError conflict `incompatible_parameters` with `compatibilityReport`, or `validation_failed`
   */
  async requirePublishable(
    configurationName: string,
    version: string,
    { isStrict, caller }: { isStrict: boolean; caller: string },
  ): Promise<void> {
    const draft = await this.schemas.find(configurationName, version);
    if (draft?.configuration?.status !== 'Draft') return;
    const { schema, fault } = await this.schemas.read(configurationName, draft, caller);
    if (fault && isStrict) throw conflict('validation_failed', fault.message, fault.data);
    const before = await this.schemas.findPublished(configurationName, { version, isIncluded: false });
    const candidate = { version, schema, isUpload: draft.upload !== null, caller };
    await this.requireCompatible(configurationName, candidate, before);
  }

  /**
   * Lets a schema pass that breaks nothing of the highest version before it: a published one, which may be the one
   * it is for, or an uploaded schema.
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
    await this.requireCompatible(configurationName, { version, schema, isUpload: true, caller }, before);
  }

  private async requireCompatible(
    configurationName: string,
    candidate: Candidate,
    before: SchemaVersion | undefined,
  ): Promise<void> {
    const major = majorOf(candidate.version);
    if (before === undefined || major === null || majorOf(before.version) !== major) return;
    const { schema: older, fault } = await this.schemas.read(configurationName, before, candidate.caller);
    // Nobody can tell what it declared, or an upload is the first to say anything at all.
    if (fault || (older === null && candidate.isUpload)) return;
    const schemas = { older, newer: candidate.schema };
    const changes = await this.documents.run(candidate.caller, 'compareSchemas', schemas);
    if (changes.breakingChanges.length === 0) return;
    const compatibilityReport: CompatibilityReport = {
      oldVersion: before.version,
      newVersion: candidate.version,
      hasBreakingChanges: true,
      ...changes,
      affectedParameterFiles: await this.checkFiles(configurationName, candidate, major),
    };
    const message = `The parameters break with those of ${before.version}, which takes a new major version`;
    throw conflict('incompatible_parameters', message, { compatibilityReport });
  }

  /** Of every scope the active file of the major, checked with the new schema. */
  private async checkFiles(
    name: string,
    candidate: Candidate,
    major: number,
  ): Promise<AffectedParameterFile[]> {
    const index = await this.parameters.index(name);
    const files: AffectedParameterFile[] = [];
    for (const scope of scopesIn(index).sort(byName)) {
      const file = activeFile(index, scope, major);
      if (file === null) continue;
      files.push(await this.checkFile(name, scope, file, candidate));
      // There may be one for each node, and all of them in memory.
      await nextTurn();
    }
    return files;
  }

  private async checkFile(
    name: string,
    { scopeType: scopeTypeName, value: scopeValue }: ParameterScope,
    file: VersionRef,
    { schema, caller }: Candidate,
  ): Promise<AffectedParameterFile> {
    const document = await this.parameters.source(name, file);
    const errors = document
      ? await this.documents.run(caller, 'checkDocument', { schema, document, isPartial: true })
      : [];
    return { scopeTypeName, scopeValue, version: file.version, needsMigration: errors.length > 0, errors };
  }
}

/** The highest published stable one of the major, else the highest published. */
function activeFile(index: SeriesIndex, scope: ParameterScope, majorVersion: number): VersionRef | null {
  const published = index.of(seriesOf(scope)).published;
  const stable = chooseVersion(published, { majorVersion, prereleaseChannel: null });
  return stable ?? chooseVersion(published, { majorVersion, prereleaseChannel: ANY_PRERELEASE });
}

function byName(a: ParameterScope, b: ParameterScope): number {
  const [first, second] = [`${a.scopeType}/${a.value ?? ''}`, `${b.scopeType}/${b.value ?? ''}`];
  return first < second ? -1 : 1;
}
