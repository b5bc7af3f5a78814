/** Checks parameter files of one configuration by its current schemas and its current validation mode. */

import { LRUCache } from 'lru-cache';
import type { SecretNames } from '../domain/secrets.ts';
import type { EffectiveValidation, ParameterValidationMode } from '../domain/server-settings.ts';
import type { VariableValues } from '../domain/variables.ts';
import { type Major, majorOf } from '../domain/version-order.ts';
import type { FieldError } from '../lib/errors.ts';
import { type Declared, NOTHING_DECLARED, schemaIn } from '../resolve/declared.ts';
import type { DocumentSource } from '../resolve/document-tasks.ts';
import { allVariables } from '../resolve/known-variables.ts';
import type { GrantedResource } from '../security/access.ts';
import type { AuthorTools } from '../versions/author.ts';
import type { VersionRef } from '../versions/store.ts';
import { readEffectiveSettings } from './configuration-settings.ts';
import { type SecretTools, secureNamesFor } from './secret-content.ts';

export interface ParameterTools extends AuthorTools, SecretTools {}

/** What the rules for parameter files read. */
export type CheckTools = Omit<ParameterTools, Exclude<keyof AuthorTools, 'database'>>;

/** The configuration that owns the parameters. */
export type ConfigurationOf = Pick<GrantedResource, 'id' | 'name'>;

/** Whether a schema refuses a file. The key names both, and where and by which keys secrets open; none of it ever changes. */
const refusals = new LRUCache<string, boolean>({ max: 50_000 });

/** What decides how files are checked, and in whose turn. */
interface CheckedBy extends Pick<EffectiveValidation, 'variables'> {
  mode: ParameterValidationMode;
  caller: string;
}

/** What decides the schema of a file: drafts may set what only a draft of the configuration declares. */
export type CheckedFile = Pick<VersionRef, 'version' | 'status'>;

/** The checks of one request. The settings are read once, and each schema and its secrets are looked for once. */
export class FileChecks {
  readonly mode: ParameterValidationMode;
  private readonly isReplacing: boolean;
  /** Something for each variable that there is, once it was asked. */
  private variables: Promise<VariableValues> | null = null;
  private readonly tools: CheckTools;
  private readonly id: string;
  private readonly name: string;
  private readonly caller: string;
  private readonly asPublished: string | undefined;
  private readonly schemas = {
    Draft: new Map<Major, Promise<Declared>>(),
    Published: new Map<Major, Promise<Declared>>(),
  };
  private readonly secure = new Map<Major | null, Promise<SecretNames>>();

  private constructor(
    tools: CheckTools,
    { id, name }: ConfigurationOf,
    { mode, variables, caller, asPublished }: CheckedBy & { asPublished: string | undefined },
  ) {
    this.tools = tools;
    this.id = id;
    this.name = name;
    this.mode = mode;
    this.isReplacing = variables === 'On';
    this.caller = caller;
    this.asPublished = asPublished;
  }

  /**
   * @param caller the id of the user in whose turn documents are read
   * @param asPublished a draft of the configuration that counts as published
   */
  static async of(
    tools: CheckTools,
    configuration: ConfigurationOf,
    caller: string,
    asPublished?: string,
  ): Promise<FileChecks> {
    const { parameterValidationMode: mode, variables } = await readEffectiveSettings(
      tools.database.read,
      configuration.id,
    );
    return new FileChecks(tools, configuration, { mode, variables, caller, asPublished });
  }

  /** @param given has what the settings say, which the caller has read */
  static by(tools: CheckTools, configuration: ConfigurationOf, given: CheckedBy): FileChecks {
    return new FileChecks(tools, configuration, { ...given, asPublished: undefined });
  }

  /** As `secureNamesFor`, which goes by the major of the version alone. */
  secureNames(version: string): Promise<SecretNames> {
    const major = majorOf(version);
    const file = { configurationName: this.name, version, caller: this.caller };
    const names = this.secure.get(major) ?? secureNamesFor(this.tools, file);
    this.secure.set(major, names);
    return names;
  }

  /** What the schema finds wrong in a scope's file, which need not set everything. In mode None it finds nothing. */
  async errorsOf(file: CheckedFile, document: DocumentSource | null): Promise<FieldError[]> {
    const schema = schemaIn(await this.declaredFor(file));
    if (document === null || (schema === null && !this.looksForVariables)) return [];
    const check = { schema, document, isPartial: true, variables: await this.knownVariables() };
    return this.tools.documents.run(this.caller, 'checkDocument', check);
  }

  /** Tells whether the file cannot be checked, because nobody knows what its schema says. */
  async isUnknown(file: CheckedFile): Promise<boolean> {
    return (await this.declaredFor(file)).kind === 'unknown';
  }

  async needsMigration(ref: VersionRef): Promise<boolean> {
    const schema = schemaIn(await this.declaredFor(ref));
    if (schema === null && !this.looksForVariables) return false;
    const { documents } = this.tools;
    const names = Object.keys((await this.knownVariables()) ?? {}).join();
    const key = `${schema?.key} ${names} ${this.id} ${ref.series} ${ref.oid} ${documents.keys.generation}`;
    const verdict = refusals.get(key) ?? (await this.isRefused(ref));
    refusals.set(key, verdict);
    return verdict;
  }

  async anyNeedsMigration(refs: readonly VersionRef[]): Promise<boolean> {
    for (const ref of refs) if (await this.needsMigration(ref)) return true;
    return false;
  }

  private async isRefused(ref: VersionRef): Promise<boolean> {
    const document = await this.tools.parameters.source(this.name, ref);
    return (await this.errorsOf(ref, document)).length > 0;
  }

  private get looksForVariables(): boolean {
    return this.isReplacing && this.mode !== 'None';
  }

  /** Null where variables are texts as any other. */
  private async knownVariables(): Promise<VariableValues | null> {
    if (!this.looksForVariables) return null;
    this.variables ??= allVariables(this.tools.database.read);
    return this.variables;
  }

  /** In mode None nothing is asked for. */
  private async declaredFor({ version, status }: CheckedFile): Promise<Declared> {
    const major = majorOf(version);
    if (this.mode === 'None' || major === null) return NOTHING_DECLARED;
    const known = this.schemas[status];
    const wish = { isDraft: status === 'Draft', asPublished: this.asPublished };
    const declared = known.get(major) ?? this.tools.schemas.forMajor(this.name, major, this.caller, wish);
    known.set(major, declared);
    return declared;
  }
}
