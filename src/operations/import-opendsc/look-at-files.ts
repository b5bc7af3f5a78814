/** Looks at every file of the source before anything is done, so that the plan knows what can be imported. */

import pLimit from 'p-limit';
import { contentTypeNamed } from '../../deeds/parameter-content.ts';
import type { DocumentType } from '../../domain/parameter-document.ts';
import { checkGitAttributes, isGitAttributes, showText } from '../../domain/safe-path.ts';
import { HawserError } from '../../lib/errors.ts';
import { groupBy } from '../../lib/group-by.ts';
import { sha256Hex } from '../../lib/hash.ts';
import { DocumentsInThread, newSource } from '../../resolve/documents.ts';
import { HeldKeys } from '../../resolve/held-keys.ts';
import type { Kind, Refusal } from './kinds.ts';
import type {
  FileFault,
  SourceFiles,
  SourceParameterFile,
  SourceSite,
  SourceVersion,
} from './source/site.ts';

/** What was found of the files of one version. `fault` is a sentence, and null where nothing is wrong. */
export interface VersionState {
  fault: string | null;
  files: readonly { path: string; size: number; sha256: string }[];
}

export interface ParameterState {
  fault: string | null;
  type: DocumentType;
  sha256: string;
}

/** What was found of each version and each parameter file, by their ids. */
export interface FileStates {
  versions: ReadonlyMap<string, VersionState>;
  parameters: ReadonlyMap<string, ParameterState>;
  /** The parameter files of which readers take values for different things, by name. */
  ambiguous: readonly Refusal[];
}

/** Files that are read at once. */
const CONCURRENT_READS = 16;
/** Files that are named where none is there. */
const NAMED = 5;

const FAULTS: Record<FileFault, string> = {
  missing: 'is missing',
  altered: 'has another checksum than the database says',
};

/** The place of a file of a version. */
export interface FileOfVersion {
  configuration: string;
  version: string;
  path: string;
}

/** The place of a parameter file. */
export interface FileOfScope {
  configuration: string;
  scopeType: string;
  scopeValue: string | null;
  version: string;
}

/** The places of the files, which the names in other rows make up. */
export class Places {
  private readonly configurations: ReadonlyMap<string, string>;
  private readonly schemas: ReadonlyMap<string, string>;
  private readonly scopeTypes: ReadonlyMap<string, string>;

  constructor({ configurations, parameterSchemas, scopeTypes }: SourceSite) {
    this.configurations = new Map(configurations.map(({ id, name }) => [id, name]));
    this.schemas = new Map(parameterSchemas.map(({ id, configurationId }) => [id, configurationId]));
    this.scopeTypes = new Map(scopeTypes.map(({ id, name }) => [id, name]));
  }

  ofVersion({ configurationId, version }: SourceVersion, path: string): FileOfVersion {
    return { configuration: this.configurations.get(configurationId) ?? '', version, path };
  }

  ofParameters({ parameterSchemaId, scopeTypeId, scopeValue, version }: SourceParameterFile): FileOfScope {
    const configuration = this.configurations.get(this.schemas.get(parameterSchemaId) ?? '') ?? '';
    return { configuration, scopeType: this.scopeTypes.get(scopeTypeId) ?? '', scopeValue, version };
  }
}

/**
 * Reads and checks every file.
 * @param onProgress is told how many of how many files were read
 * @throws Error where none of the files is there, because the folder is then another one
 */
export async function lookAtFiles(
  site: SourceSite,
  files: SourceFiles,
  skip: ReadonlySet<Kind>,
  onProgress: (done: number, all: number) => void = () => undefined,
): Promise<FileStates> {
  return new Look(site, files, onProgress).run(skip);
}

class Look {
  private readonly limit = pLimit(CONCURRENT_READS);
  private readonly documents = new DocumentsInThread(new HeldKeys());
  private readonly places: Places;
  private readonly site: SourceSite;
  private readonly files: SourceFiles;
  private readonly onProgress: (done: number, all: number) => void;
  private readonly missing: string[] = [];
  private readonly ambiguous: Refusal[] = [];
  private all = 0;
  private done = 0;

  constructor(site: SourceSite, files: SourceFiles, onProgress: Look['onProgress']) {
    this.site = site;
    this.files = files;
    this.onProgress = onProgress;
    this.places = new Places(site);
  }

  async run(skip: ReadonlySet<Kind>): Promise<FileStates> {
    const { site } = this;
    const byVersion = groupBy(site.files, ({ versionId }) => versionId);
    const versions = skip.has('versions') ? [] : site.versions;
    const parameters = skip.has('parameter files')
      ? []
      : site.parameterFiles.filter((file) => !file.isPassthrough);
    this.all = versions.reduce((sum, { id }) => sum + (byVersion.get(id)?.length ?? 0), parameters.length);
    const states = {
      versions: new Map(
        await Promise.all(
          versions.map(async (version) => [version.id, await this.lookAt(version, byVersion)] as const),
        ),
      ),
      parameters: new Map(
        await Promise.all(
          parameters.map(async (file) => [file.id, await this.lookAtParameters(file)] as const),
        ),
      ),
    };
    if (this.all > 0 && this.missing.length === this.all) throw this.noneThere();
    return { ...states, ambiguous: this.ambiguous.sort((a, b) => (a.name < b.name ? -1 : 1)) };
  }

  private async lookAt(
    version: SourceVersion,
    byVersion: ReadonlyMap<string, SourceSite['files'][number][]>,
  ): Promise<VersionState> {
    const found = await Promise.all(
      (byVersion.get(version.id) ?? []).map(({ relativePath, checksum }) => {
        const path = relativePath.replaceAll('\\', '/');
        const at = this.places.ofVersion(version, relativePath);
        return this.read(`${at.configuration} ${at.version} ${path}`, path, () =>
          this.files.configurationFile(at, checksum),
        );
      }),
    );
    const faulty = found.find(({ fault }) => fault !== null);
    return { fault: faulty?.fault ?? null, files: found };
  }

  private async lookAtParameters(file: SourceParameterFile): Promise<ParameterState> {
    const at = this.places.ofParameters(file);
    const name = [at.configuration, at.scopeType, ...(at.scopeValue ? [at.scopeValue] : []), at.version].join(
      ' ',
    );
    let bytes = Buffer.alloc(0);
    const { fault, sha256 } = await this.read(name, 'parameters.yaml', async () => {
      const read = await this.files.parameterFile(at, file.checksum);
      if (Buffer.isBuffer(read)) bytes = read as Buffer<ArrayBuffer>;
      return read;
    });
    const type = contentTypeNamed(file.contentType ?? '') ?? 'yaml';
    return { type, sha256, fault: fault ?? (await this.faultOf(name, bytes, type)) };
  }

  private async faultOf(name: string, bytes: Buffer, type: DocumentType): Promise<string | null> {
    const document = newSource(bytes, type);
    try {
      const [found, ...others] = await this.documents.run('import', 'findAmbiguous', { document });
      const more = others.length === 0 ? '' : `, and ${others.length} more`;
      // The value may be a secret, and a report is kept.
      if (found) this.ambiguous.push({ name, reason: `line ${found.line}, column ${found.column}${more}` });
      return null;
    } catch (error) {
      if (error instanceof HawserError) return error.message;
      throw error;
    }
  }

  private read(name: string, path: string, read: () => Promise<Buffer | FileFault>) {
    return this.limit(async () => {
      const content = await read();
      this.done += 1;
      this.onProgress(this.done, this.all);
      if (!Buffer.isBuffer(content)) {
        if (content === 'missing') this.missing.push(name);
        return { path, size: 0, sha256: '', fault: `Its file ${showText(path)} ${FAULTS[content]}` };
      }
      return {
        path,
        size: content.length,
        sha256: sha256Hex(content),
        fault: attributesFault(path, content),
      };
    });
  }

  private noneThere(): Error {
    const named = this.missing.slice(0, NAMED).join(', ');
    return new Error(
      `the folder is not that of this database: none of its ${this.all} files is there, such as ${named}`,
    );
  }
}

function attributesFault(path: string, content: Buffer): string | null {
  try {
    if (isGitAttributes(path)) checkGitAttributes(path, content);
    return null;
  } catch (error) {
    if (error instanceof HawserError) return error.message;
    throw error;
  }
}
