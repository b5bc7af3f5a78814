/** Judges parameter files of one configuration by its schemas and its validation mode, both as they are now. */

import { LRUCache } from 'lru-cache';
import type { Database } from '../../db/open.ts';
import { checkParameters } from '../../domain/parameter-checks.ts';
import type { ParameterDefinitions } from '../../domain/parameter-schema.ts';
import type { ParameterValidationMode } from '../../domain/server-settings.ts';
import type { Mapping } from '../../domain/value.ts';
import { majorOf } from '../../domain/version-order.ts';
import type { GitStore, ParameterVersionRef } from '../../git/store.ts';
import type { FieldError } from '../../lib/errors.ts';
import type { Locks } from '../../lib/locks.ts';
import type { ParameterReader } from '../../resolve/parameters.ts';
import type { SchemaReader } from '../../resolve/schemas.ts';
import type { GrantedResource } from '../../security/access.ts';
import { readEffectiveSettings } from '../configurations/queries.ts';

export interface ParameterTools {
  database: Database;
  store: GitStore;
  parameters: ParameterReader;
  schemas: SchemaReader;
  /** Shared while a file is written, so that its scope type and value stay as they are meanwhile. */
  locks: Locks;
}

/** The configuration whose parameters they are. */
export type ConfigurationOf = Pick<GrantedResource, 'id' | 'name'>;

/** Of each schema, whether it refuses the file with this object id: neither ever changes. */
const refusals = new WeakMap<ParameterDefinitions, LRUCache<string, boolean>>();
const MAX_REFUSALS = 10_000;

/** For one request: the settings are read once, and each major's schema is looked for once. */
export class FileChecks {
  readonly mode: ParameterValidationMode;
  private readonly tools: ParameterTools;
  private readonly name: string;
  private readonly schemas = new Map<number, Promise<ParameterDefinitions | null>>();

  private constructor(tools: ParameterTools, name: string, mode: ParameterValidationMode) {
    this.tools = tools;
    this.name = name;
    this.mode = mode;
  }

  static async of(tools: ParameterTools, { id, name }: ConfigurationOf): Promise<FileChecks> {
    const { parameterValidationMode } = await readEffectiveSettings(tools.database.read, id);
    return new FileChecks(tools, name, parameterValidationMode);
  }

  /** What the schema finds in a scope's file, which need not set everything; nothing in mode None. */
  async errorsOf(version: string, document: Mapping | null): Promise<FieldError[]> {
    const definitions = await this.definitionsFor(version);
    if (definitions === null || document === null) return [];
    return checkParameters(definitions, document, { partial: true });
  }

  async needsMigration(ref: ParameterVersionRef): Promise<boolean> {
    const definitions = await this.definitionsFor(ref.version);
    if (definitions === null) return false;
    const known = refusals.get(definitions) ?? new LRUCache<string, boolean>({ max: MAX_REFUSALS });
    refusals.set(definitions, known);
    const verdict = known.get(ref.oid) ?? (await this.isRefused(ref));
    known.set(ref.oid, verdict);
    return verdict;
  }

  async anyNeedsMigration(refs: readonly ParameterVersionRef[]): Promise<boolean> {
    for (const ref of refs) if (await this.needsMigration(ref)) return true;
    return false;
  }

  private async isRefused(ref: ParameterVersionRef): Promise<boolean> {
    const document = await this.tools.parameters.document(this.name, ref);
    return (await this.errorsOf(ref.version, document)).length > 0;
  }

  /** Null where anything goes. */
  private async definitionsFor(version: string): Promise<ParameterDefinitions | null> {
    const major = majorOf(version);
    if (this.mode === 'None' || major === null) return null;
    const schema = this.schemas.get(major) ?? this.tools.schemas.forMajor(this.name, major);
    this.schemas.set(major, schema);
    return schema;
  }
}
