/**
 * The keys of secrets of this process: what decrypts, what encrypts, and the key of evidence. Keys come from the file. What the
 * servers of a site must agree on is in the database: which key encrypts, and the key of evidence, encrypted.
 */

import { type Config, ConfigError } from '../../config.ts';
import type { Database, Db } from '../../db/database.ts';
import {
  holdSecretState,
  type KeyHolder,
  listKeyHolders,
  listUsedKeys,
  noteKeysUsed,
  readSecretState,
  type SecretState,
  writeSecretState,
} from '../../db/secret-keys.ts';
import { listsServers } from '../../db/servers.ts';
import type { Awaitable } from '../../lib/awaitable.ts';
import type { Clock } from '../../lib/clock.ts';
import { HawserError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import {
  type EvidenceKey,
  newEvidenceKey,
  openEvidenceKey,
  requireEvidence,
  type SecretKey,
  type SecretKeys,
  sealEvidenceKey,
  sealedKeyId,
  secretKeyMissing,
} from '../../lib/sealed-text.ts';
import { recordAudit, systemActor } from '../audit.ts';
import { makeKeyFile, requireKeyFile } from './key-file.ts';

export interface SecretStoreOptions {
  config: Pick<Config, 'dataDir' | 'secretsKeyFile'>;
  database: Pick<Database, 'read' | 'write' | 'changes'>;
  clock: Clock;
  log: Log;
}

/** Seconds after which a caller may try again while servers are brought to this release. */
const RETRY_AFTER_UPGRADE = 60;
const SETTING = 'HAWSER_SECRETS_KEY_FILE';

export class SecretStore implements SecretKeys {
  private readonly options: SecretStoreOptions;
  private readonly listeners: (() => Awaitable<void>)[] = [];
  private held: readonly SecretKey[] = [];
  /** The key of evidence in its encrypted form, as the database had it last. */
  private sealedEvidence: string | null = null;
  private openedEvidence: EvidenceKey | null = null;
  /** Ids that the database is known to list as used. */
  private used = new Set<string>();
  private reloads = 0;

  private constructor(options: SecretStoreOptions) {
    this.options = options;
    options.database.changes.subscribe({
      onChange: (kind, key) => {
        if (kind === 'secrets') this.takeEvidence(key);
      },
      onLost: () => void this.readEvidence(),
    });
  }

  /**
   * Reads the keys, and makes the file in the data folder where nothing is encrypted yet.
   * @throws ConfigError for a file with anything else in it, and on PostgreSQL for one without the key that encrypts
   */
  static async open(options: SecretStoreOptions): Promise<SecretStore> {
    const store = new SecretStore(options);
    const { config, database } = options;
    let keys = await requireKeyFile(config);
    if (keys === null && (await readSecretState(database.read)).sealingKeyId === null)
      keys = await makeKeyFile(config);
    await store.take(keys ?? []);
    return store;
  }

  /** The keys that decrypt; the first one encrypts. */
  get keys(): readonly SecretKey[] {
    return this.held;
  }

  get ids(): readonly string[] {
    return this.held.map(({ id }) => id);
  }

  /** Null before the first secret, and where no key opens it. */
  get evidence(): EvidenceKey | null {
    return this.openedEvidence;
  }

  get evidenceKeyId(): string | null {
    return this.sealedEvidence && sealedKeyId(this.sealedEvidence);
  }

  /** Rises with each reload and each new key of evidence. Whatever was opened before is to be opened anew. */
  get generation(): number {
    return this.reloads;
  }

  /** The key that decrypts texts of this id; null where this server does not have it. */
  key(id: string): SecretKey | null {
    return this.held.find((each) => each.id === id) ?? null;
  }

  /** Tells after each reload, and when there is another key of evidence. A reload waits for those who are told. */
  subscribe(listener: () => Awaitable<void>): void {
    this.listeners.push(listener);
  }

  /**
   * The key of evidence.
   * @throws HawserError unavailable `secret_key_missing`
   */
  evidenceKey(): EvidenceKey {
    return requireEvidence(this);
  }

  /** The ids of keys under which something is encrypted and which this server does not have. */
  async missing(): Promise<string[]> {
    const used = await listUsedKeys(this.options.database.read);
    return used.filter((id) => this.key(id) === null);
  }

  /**
   * Gives the key that encrypts. To be called before content with a secret is written, and outside of transactions. The first
   * time, and for another key than the last one, the database is told of it, and that is durable before the call returns.
   * @throws HawserError unavailable `secret_key_missing` while this server or one that is seen lacks the key that encrypts, or
   *   `upgrade_incomplete` while one of a release is seen that knows no secrets
   */
  async sealingKey(): Promise<SecretKey> {
    const { read, write } = this.options.database;
    const [state, holders] = [await readSecretState(read), await listKeyHolders(read)];
    const first = this.requireFirst(state, holders);
    if (
      state.sealingKeyId === first.id &&
      state.evidenceKey === this.sealedEvidence &&
      this.evidence !== null
    )
      return first;
    await this.settle(write, holders);
    return first;
  }

  /**
   * Notes that texts under these keys are stored, though none was encrypted now. To be called before they are written.
   * @throws HawserError unavailable, as `sealingKey`
   */
  async noteUse(ids: Iterable<string>): Promise<void> {
    const unknown = [...new Set(ids)].filter((id) => !this.used.has(id));
    if (unknown.length === 0) return;
    await this.sealingKey();
    const { database, clock } = this.options;
    await noteKeysUsed(database.write, unknown, clock.now());
    for (const id of unknown) this.used.add(id);
  }

  /**
   * Reads the file anew. After a fault the old keys stay.
   * @throws ConfigError as `open`
   */
  async reload(): Promise<void> {
    await this.take((await requireKeyFile(this.options.config)) ?? []);
    this.options.log.info({ keyIds: this.ids }, 'keys of secrets loaded anew');
  }

  private async take(keys: readonly SecretKey[]): Promise<void> {
    const { database, log } = this.options;
    const state = await readSecretState(database.read);
    const { sealingKeyId } = state;
    // Several servers must have one file, so a file without this key is the wrong one.
    if (listsServers(database.read) && sealingKeyId !== null && !keys.some(({ id }) => id === sealingKeyId))
      throw new ConfigError(
        SETTING,
        `the key ${sealingKeyId}, which encrypts the secrets in this database, is missing`,
        'the one key file that all servers of the database have',
      );
    this.held = keys;
    this.used = new Set(await listUsedKeys(database.read));
    this.openEvidence(state.evidenceKey);
    await this.tell();
    await this.takeOver(state);
    const missing = await this.missing();
    if (missing.length > 0)
      log.warn({ keyIds: missing }, 'keys of secrets are missing; nodes that need them keep what they have');
  }

  /** Names another first key in the database, once all servers have it. Until then the former one is named. */
  private async takeOver(state: SecretState): Promise<void> {
    const { read, write } = this.options.database;
    if (state.sealingKeyId === null || this.evidence === null) return;
    const holders = await listKeyHolders(read);
    try {
      const { id } = this.requireFirst(state, holders);
      if (id === state.sealingKeyId && sealedKeyId(state.evidenceKey ?? '') === id) return;
    } catch (error) {
      if (error instanceof HawserError && error.kind === 'unavailable') return;
      throw error;
    }
    await this.settle(write, holders);
  }

  /** Whether this server and all that are seen can work with the first key of this one. */
  private requireFirst({ sealingKeyId }: SecretState, holders: readonly KeyHolder[]): SecretKey {
    refuseOlder(holders, 'knows no secrets and would hand them out encrypted');
    const [first] = this.held;
    if (sealingKeyId !== null && this.key(sealingKeyId) === null) throw secretKeyMissing(sealingKeyId);
    if (first === undefined) throw secretKeyMissing('that encrypts');
    for (const id of [first.id, sealingKeyId ?? first.id]) {
      const without = holders.find(({ keyIds }) => keyIds?.includes(id) === false);
      if (without !== undefined) throw secretKeyMissing(id, `the server ${without.host} does not have`);
    }
    return first;
  }

  private async settle(write: Database['write'], holders: readonly KeyHolder[]): Promise<void> {
    const work = async (trx: Db) => {
      const state = await holdSecretState(trx);
      const first = this.requireFirst(state, holders);
      const evidenceKey = this.evidenceUnder(first, state.evidenceKey, holders);
      await nameFirstKey(trx, state, { sealingKeyId: first.id, evidenceKey }, this.options.clock.now());
      return evidenceKey;
    };
    this.takeEvidence(await write.transaction().execute(work));
  }

  /** The same key of evidence, encrypted by `first`. It is made anew only where no key opens it. */
  private evidenceUnder(first: SecretKey, sealed: string | null, holders: readonly KeyHolder[]): string {
    const kept = sealed === null ? null : evidenceUnder(first, this.held, sealed);
    if (kept !== null) return kept;
    const id = sealed === null ? null : sealedKeyId(sealed);
    if (id !== null && holders.some(({ keyIds }) => keyIds?.includes(id))) throw secretKeyMissing(id);
    return sealEvidenceKey(first, newEvidenceKey());
  }

  /** Takes over what the database has now, mostly the same key under another one. */
  private takeEvidence(sealed: string): void {
    if (sealed === this.sealedEvidence) return;
    this.sealedEvidence = sealed;
    const opened = openEvidence(this.held, sealed);
    // Between a rotation and the reload after it the former one is the same key, which nodes go on with.
    if (opened === null || this.openedEvidence?.key.equals(opened.key)) return;
    this.openedEvidence = opened;
    void this.tell();
  }

  private async readEvidence(): Promise<void> {
    const state = await readSecretState(this.options.database.read).catch(() => null);
    if (state?.evidenceKey) this.takeEvidence(state.evidenceKey);
  }

  private openEvidence(sealed: string | null): void {
    this.sealedEvidence = sealed;
    this.openedEvidence = sealed === null ? null : openEvidence(this.held, sealed);
  }

  private async tell(): Promise<void> {
    this.reloads += 1;
    for (const listener of this.listeners)
      try {
        await listener();
      } catch (error) {
        this.options.log.error({ err: error }, 'keys of secrets could not be told of');
      }
  }
}

/** The key of evidence, encrypted by `first`; null where none of the keys opens it. */
export function evidenceUnder(first: SecretKey, keys: readonly SecretKey[], sealed: string): string | null {
  const opened = openEvidence(keys, sealed);
  if (opened === null) return null;
  return sealedKeyId(sealed) === first.id ? sealed : sealEvidenceKey(first, opened);
}

/** Names the key that encrypts from now on. Another one than before is an entry of the audit trail. */
export async function nameFirstKey(
  trx: Db,
  before: SecretState,
  wanted: { sealingKeyId: string; evidenceKey: string | null },
  now: number,
): Promise<void> {
  const isSame = before.sealingKeyId === wanted.sealingKeyId;
  if (isSame && before.evidenceKey === wanted.evidenceKey) return;
  await writeSecretState(trx, wanted, now);
  const details = { keyId: wanted.sealingKeyId, formerKeyId: before.sealingKeyId };
  if (!isSame)
    await recordAudit(trx, systemActor(now), { action: 'secrets.key_named', resourceId: null, details });
}

function openEvidence(keys: readonly SecretKey[], sealed: string): EvidenceKey | null {
  const key = keys.find(({ id }) => id === sealedKeyId(sealed));
  return key === undefined ? null : openEvidenceKey(key, sealed);
}

/**
 * Refuses what a server of an earlier release would do wrong, while one is seen.
 * @param fault what it would do, after `which`
 * @throws HawserError unavailable `upgrade_incomplete`
 */
export function refuseOlder(holders: readonly KeyHolder[], fault: string): void {
  const older = holders.find(({ keyIds }) => keyIds === null);
  if (older === undefined) return;
  const message =
    `The server ${older.host} is of release ${older.version}, which ${fault}: ` +
    'bring all servers to this release, and try again';
  throw new HawserError('unavailable', 'upgrade_incomplete', message, { retryAfter: RETRY_AFTER_UPGRADE });
}
