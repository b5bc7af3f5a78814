/**
 * Takes pushes of stock git clients. The objects wait in a quarantine until all rules are looked at, and are then written
 * together with the ref, as an upload is. So a push that is refused leaves nothing.
 */

import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pushAdvertisement } from '../../git/push/advertisement.ts';
import { type PushRequest, readPushRequest } from '../../git/push/push-request.ts';
import { Quarantine } from '../../git/push/quarantine.ts';
import { gitdirOf } from '../../git/repository-layout.ts';
import type { RequestFacts } from '../../http/route.ts';
import { BoundedQueue } from '../../lib/bounded-queue.ts';
import { MINUTE } from '../../lib/clock.ts';
import { HawserError, internal } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { GrantedResource } from '../../security/access.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { refused, type TakenAnswer, taken } from './push-answers.ts';
import { type PushDeed, PushDeeds, type PushDeedTools } from './push-deeds.ts';

export interface PushTools extends PushDeedTools {
  log: Log;
  /** The folders in which git is looked for, like `PATH`. */
  searchPath: string;
  /** Bytes of the pack of one push. */
  packBytes: number;
}

/** Who pushes to which configuration. */
export interface PushCall {
  resource: GrantedResource;
  principal: UserPrincipal;
  facts: RequestFacts;
}

/** Pushes that are received at once. Each has processes of git. */
const AT_ONCE = 4;
const WAITING = 32;

/** What one push may bring at most, beside the bytes of its pack. */
const BOUNDS = { objects: 100_000, commits: 1_000 };
/** What the objects of a pack may be together when they are unpacked, for each byte that the pack may have. */
const UNPACKED = 10;

export class Pushes {
  private readonly tools: PushTools;
  private readonly deeds: PushDeeds;
  private readonly places = new BoundedQueue({ slots: AT_ONCE, waiting: WAITING, patience: MINUTE });

  constructor(tools: PushTools) {
    this.tools = tools;
    this.deeds = new PushDeeds(tools);
  }

  /** The refs that a client sees before it pushes. */
  async advertise(name: string): Promise<Buffer> {
    const { refs, shallow } = await this.tools.store.advertised({ kind: 'configurations', name });
    // The records of pushes are the server's own.
    const shown = [...refs].filter(([ref]) => /^refs\/(?:heads|tags)\//.test(ref));
    return pushAdvertisement(shown, shallow);
  }

  /**
   * Takes a push, or refuses it in the answer.
   * @throws HawserError for what is no request of git, so that no ref can be named in an answer
   */
  async receive(call: PushCall, body: Readable): Promise<Buffer> {
    const request = await readPushRequest(body);
    if (request === null || request.commands.length === 0) return Buffer.alloc(0);
    try {
      const leave = await this.places.take(call.facts.over);
      try {
        return taken(request, await this.take(call, request));
      } finally {
        leave();
      }
    } catch (error) {
      const failure =
        error instanceof HawserError ? error : internal('internal_error', 'Something went wrong', error);
      this.note(call, failure);
      return refused(request, failure);
    } finally {
      body.destroy();
    }
  }

  private async take(call: PushCall, request: PushRequest): Promise<TakenAnswer> {
    const { store, searchPath, packBytes } = this.tools;
    const repository = { kind: 'configurations', name: call.resource.name } as const;
    const deed: PushDeed = this.deeds.plan(call, request);
    await store.folders.materialise(repository);
    const { refs } = await store.advertised(repository);
    const quarantine = await Quarantine.open({
      searchPath,
      gitdir: gitdirOf(store.root, repository),
      folder: join(store.root, '.tmp', `push-${newId()}`),
      have: [...new Set(refs.values())],
      limits: { ...BOUNDS, packBytes, bytes: UNPACKED * packBytes },
      gone: call.facts.over,
    });
    try {
      if (request.pack !== null) await quarantine.receive(request.pack);
      await quarantine.findAdded(request.commands.flatMap(({ to }) => to ?? []));
      return await deed.carryOut(quarantine);
    } finally {
      await quarantine.remove();
    }
  }

  private note({ resource }: PushCall, { kind, code, message, cause }: HawserError): void {
    const facts = { configuration: resource.name, code, detail: message };
    if (kind === 'internal' || kind === 'storage_full') this.tools.log.error({ ...facts, err: cause }, 'push');
    else this.tools.log.info(facts, 'push refused');
  }
}
