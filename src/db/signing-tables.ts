/** Row types of who may sign versions. `schema.ts` explains the conventions. */

/** One row for each configuration that sets anything of it. */
export interface ConfigurationSigningTable {
  configuration_id: string;
  /** When a signature is asked for. */
  require: 'Off' | 'Version';
  /** OpenSSH's `allowed_signers`, as it was given. */
  allowed_signers: string;
  /** JSON: the ids of tags without a record of a push that count where versions must be signed. */
  admitted: string;
}

export interface SigningTables {
  configuration_signing: ConfigurationSigningTable;
}

/** The statements that make the table. */
export function signingStatements(text: string): readonly string[] {
  return [
    `create table configuration_signing (
      configuration_id ${text} primary key references configurations (id) on delete cascade,
      require ${text} not null check (require in ('Off', 'Version')),
      allowed_signers ${text} not null,
      admitted ${text} not null)`,
  ];
}
