/**
 * Takes pushes of stock git clients. The objects wait in a quarantine until all rules are looked at, and are then written.
 * The ref follows under the lock of the repository. So a push that is refused leaves nothing.
 */

import type { Readable } from 'node:stream';
import { translateDatabaseError } from '../../db/errors.ts';
import { requireAllScopes } from '../../deeds/pushed-files.ts';
import { PushDeeds, type PushDeedTools, type TakenPush } from '../../deeds/receive-push.ts';
import { pushAdvertisement } from '../../git/push/advertisement.ts';
import { type PushRequest, readPushRequest } from '../../git/push/push-request.ts';
import { Quarantine } from '../../git/push/quarantine.ts';
import { gitdirOf } from '../../git/repository-layout.ts';
import type { UploadPack } from '../../git/upload-pack.ts';
import { toHawserError } from '../../http/problem.ts';
import type { RequestFacts } from '../../http/route.ts';
import { MINUTE } from '../../lib/clock.ts';
import { forbidden, HawserError } from '../../lib/errors.ts';
import { FairQueue } from '../../lib/fair-queue.ts';
import type { GrantedResource } from '../../security/access.ts';
import { grantedResource } from '../../security/authorize.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import type { PushedKind } from '../../versions/push-plan.ts';
import type { RepositoryRef } from '../../versions/store.ts';
import { refused, taken } from './push-answers.ts';

export interface PushTools extends PushDeedTools {
  /** The folders in which git is looked for, like `PATH`. */
  searchPath: string;
  /** Whether this server takes pushes at all, and the bytes of the pack of one push. */
  push: { isOn: boolean; packBytes: number };
  /** Knows whether git is here, and is new enough. */
  uploadPack: Pick<UploadPack, 'isAtLeast'>;
  /** Where a change set is shown to people. */
  addressOfSet(id: number): string;
}

/** A request that pushes to a configuration, or to its parameters. */
export interface PushCall {
  kind: PushedKind;
  resource: GrantedResource;
  principal: UserPrincipal;
  facts: RequestFacts;
}

/** The first version that flushes what it is told to flush. */
const PUSHING_GIT = [2, 36] as const;

/** Pushes that are received at once, and those that may wait. Each has processes of git. One user has half at most. */
const PLACES = { slots: 4, slotsPerCaller: 2, waiting: 32, waitingPerCaller: 16, patience: MINUTE };

/** What one push may bring at most, beside the bytes of its pack. */
const BOUNDS = { objects: 100_000, commits: 1_000 };
/** What the objects of a pack may be together when they are unpacked, for each byte that the pack may have. */
const UNPACKED = 10;

export class Pushes {
  private readonly tools: PushTools;
  private readonly deeds: PushDeeds;
  private readonly places = new FairQueue(PLACES);

  constructor(tools: PushTools) {
    this.tools = tools;
    this.deeds = new PushDeeds(tools);
  }

  get packBytes(): number {
    return this.tools.push.packBytes;
  }

  /**
   * The refs that a client sees before it pushes.
   * @throws HawserError forbidden, also `push_not_supported`; not_implemented `git_not_available`
   */
  async advertise(call: Omit<PushCall, 'facts'>): Promise<Buffer> {
    await this.requireAllowed(call);
    const { kind, resource } = call;
    const { refs, shallow } = await this.tools.store.advertised({ kind, name: resource.name });
    // The records of pushes are the server's own.
    const shown = [...refs].filter(([ref]) => /^refs\/(?:heads|tags)\//.test(ref));
    return pushAdvertisement(shown, shallow);
  }

  /**
   * Takes a push, or refuses it in the answer.
   * @throws HawserError as `advertise`; `too_slow`; and for what is no request of git, so that no ref can be named in an answer
   */
  async receive(call: PushCall, body: Readable): Promise<Buffer> {
    await this.requireAllowed(call);
    const request = await readPushRequest(body);
    if (request === null || request.commands.length === 0) return Buffer.alloc(0);
    try {
      const leave = await this.places.takeBounded(call.principal.userId, call.facts.over);
      try {
        return taken(request, await this.take(call, request), this.tools.addressOfSet);
      } finally {
        leave();
      }
    } catch (error) {
      const failure = toHawserError(error, translateDatabaseError);
      // A body that never comes whole is no push, so its sender gets the answer of any other request.
      if (failure.code === 'too_slow') throw failure;
      this.note(call, failure);
      return refused(request, failure, call.facts.requestId);
    } finally {
      body.destroy();
    }
  }

  private async take(call: PushCall, request: PushRequest): Promise<TakenPush> {
    const { store, searchPath, push, limits } = this.tools;
    const { packBytes } = push;
    const { kind, resource, principal, facts } = call;
    const repository = { kind, name: resource.name };
    const reauthorize = () => facts.reauthorize();
    const pushed = { kind, resource, principal, actor: facts.actor, gone: facts.over, reauthorize };
    const deed = this.deeds.plan(pushed, request);
    const tips = request.commands.flatMap(({ to }) => to ?? []);
    let have = await this.refsOf(repository);
    const quarantine = await Quarantine.open({
      ...{ searchPath, have },
      gitdir: gitdirOf(store.root, repository),
      folder: await store.folders.scratch(),
      limits: { ...BOUNDS, packBytes, bytes: UNPACKED * packBytes, objectBytes: limits.uploadBytes },
      gone: call.facts.over,
    });
    const findAgain = async () => {
      const now = await this.refsOf(repository);
      if (now.join() === have.join()) return;
      have = now;
      await quarantine.findAdded(tips, have);
    };
    try {
      if (request.pack !== null) await quarantine.receive(request.pack);
      await quarantine.findAdded(tips);
      return await deed.carryOut({
        get added() {
          return quarantine.added;
        },
        read: (oid) => quarantine.read(oid),
        readAll: (oids) => quarantine.readAll(oids),
        giveAll: () => quarantine.giveAll(),
        findAgain,
        isCurrent: async () => {
          const now = new Set((await store.advertised(repository)).refs.values());
          return have.every((oid) => now.has(oid));
        },
      });
    } finally {
      await quarantine.remove();
    }
  }

  /** What the refs lead to, each once. The folder in which git looks is brought to that state, where it is a cache. */
  private async refsOf(repository: RepositoryRef): Promise<readonly string[]> {
    const { store } = this.tools;
    if (await store.has(repository)) await store.folders.materialise(repository);
    const { refs } = await store.advertised(repository);
    return [...new Set(refs.values())].sort();
  }

  /**
   * Whether the caller may push anything at all. Which files of parameters is asked once they are known. Browsers send their
   * session by themselves, so it is not taken here.
   */
  private async requireAllowed({ kind, principal, resource }: Omit<PushCall, 'facts'>): Promise<void> {
    this.requirePushes(principal);
    const { database, store } = this.tools;
    const { id, name } = resource;
    if (kind === 'configurations')
      await grantedResource(database.read, principal, 'configuration', 'Modify', { id });
    else await requireAllScopes(database, principal, resource, await store.parameters.index(name));
  }

  private requirePushes({ authMethod }: UserPrincipal): void {
    if (!this.tools.push.isOn) throw pushNotSupported();
    if (authMethod !== 'Token')
      throw forbidden('A push needs a personal access token, as the password of git');
    if (this.tools.uploadPack.isAtLeast(PUSHING_GIT)) return;
    const message = `This server has no git ${PUSHING_GIT.join('.')} or newer to take pushes with`;
    throw new HawserError('not_implemented', 'git_not_available', message);
  }

  private note(call: PushCall, { kind, code, message, cause }: HawserError): void {
    const { resource, facts } = call;
    const told = { requestId: facts.requestId, [call.kind]: resource.name, code, detail: message };
    if (kind === 'internal' || kind === 'storage_full') this.tools.log.error({ ...told, err: cause }, 'push');
    else this.tools.log.info(told, 'push refused');
  }
}

export function pushNotSupported(): HawserError {
  const message = 'Nothing is pushed here: versions are made and published through the API';
  return forbidden(message, 'push_not_supported');
}
