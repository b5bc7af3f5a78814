/** The tables of an OpenDSC server as statements, and the parts of the forms of their columns. */

import type { Columns } from './schema.ts';

/** The first column is the primary key where it is `Id`; these tables have another one. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  __EFMigrationsHistory: ['MigrationId'],
  UserGroups: ['UserId', 'GroupId'],
  UserRoles: ['UserId', 'RoleId'],
  GroupRoles: ['GroupId', 'RoleId'],
  NodeTags: ['NodeId', 'ScopeValueId'],
  NodeConfigurations: ['NodeId'],
  ConfigurationSettings: ['ConfigurationId'],
};

const FORM = /^(?<type>\w+)(?<nullable>\??)(?: > (?<target>\w+))?$/;

/** The parts of a column's form, such as `guid? > Nodes`. */
export function partsOf(form: string): { type: string; isNullable: boolean; target: string | undefined } {
  const { type = '', nullable, target } = FORM.exec(form)?.groups ?? {};
  return { type, isNullable: nullable === '?', target };
}

export type Engine = 'sqlite' | 'postgres';

const TYPES: Record<Engine, Record<string, string>> = {
  sqlite: { serial: 'INTEGER', int: 'INTEGER', bool: 'INTEGER', real: 'REAL' },
  postgres: {
    guid: 'uuid',
    time: 'timestamp with time zone',
    duration: 'interval',
    serial: 'integer',
    int: 'integer',
    bool: 'boolean',
    real: 'double precision',
  },
};

/** The statement that makes a table, as Entity Framework would. */
export function createTable(name: string, columns: Columns, engine: Engine): string {
  const lines = Object.entries(columns).map(([column, form]) => {
    const { type, isNullable, target } = partsOf(form);
    const reference = target === undefined ? '' : ` REFERENCES "${target}" ON DELETE CASCADE`;
    const typeName = TYPES[engine][type] ?? (engine === 'sqlite' ? 'TEXT' : 'text');
    return `"${column}" ${typeName} ${isNullable ? 'NULL' : 'NOT NULL'}${reference}`;
  });
  const key = (KEYS[name] ?? ['Id']).map((column) => `"${column}"`).join(', ');
  return `CREATE TABLE "${name}" (${lines.join(', ')}, PRIMARY KEY (${key}))`;
}
