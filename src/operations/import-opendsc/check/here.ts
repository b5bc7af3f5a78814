/** What this server serves each node, as its polls would be answered. It is only read, so a server may run beside. */

import { parseParameterDocument } from '../../../domain/parameter-document.ts';
import type { SecretNames } from '../../../domain/secrets.ts';
import type { Mapping } from '../../../domain/value.ts';
import type { Delivery, DeliveryPart } from '../../../resolve/delivery.ts';
import { EntryPoints } from '../../../resolve/entry-points.ts';
import { Fleet, type FleetPlace } from '../../../resolve/fleet.ts';
import type { FleetOffers } from '../../../resolve/fleet-offers.ts';
import type { ManifestParameters } from '../../../resolve/manifest.ts';
import { ParameterReader } from '../../../resolve/parameters.ts';
import { readOffers } from '../../../resolve/read-offers.ts';
import type { KeyRing } from '../../../resolve/secret-leaves.ts';
import { secretsIn } from '../../../resolve/secret-names.ts';
import type { Part, Served } from './offer.ts';
import { scopeName } from './there.ts';

export class ServedHere {
  private readonly fleet: Fleet;
  private readonly parameters: ParameterReader;
  private readonly offers: FleetOffers;
  private readonly places: ReadonlyMap<string, number>;
  private readonly served = new Map<string, Promise<Served>>();
  private readonly entryPoints: EntryPoints;
  private readonly secrets = new Map<string, Promise<SecretNames>>();

  private constructor(fleet: Fleet, parameters: ParameterReader, offers: FleetOffers) {
    this.fleet = fleet;
    this.parameters = parameters;
    this.entryPoints = new EntryPoints(fleet.documents);
    this.offers = offers;
    this.places = new Map(offers.snapshot.nodes.nodeIds.map((id, at) => [id, at]));
  }

  /** @throws the driver's error where there is no database */
  static async open(place: FleetPlace, keys: KeyRing): Promise<ServedHere> {
    const fleet = new Fleet(place, keys);
    try {
      const parameters = new ParameterReader(fleet.store, fleet);
      const readers = { parameters, keys: new Map<string, number>() };
      const offers = await fleet.atOneMoment((moment) => readOffers(fleet, moment, readers));
      return new ServedHere(fleet, parameters, offers);
    } catch (error) {
      await fleet.close();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.fleet.close();
  }

  /** What the node is served; undefined where it is not here. */
  of(nodeId: string): Promise<Served> | undefined {
    const at = this.places.get(nodeId);
    if (at === undefined) return undefined;
    const key = this.offers.keyOf(at);
    const known = this.served.get(key) ?? this.serve(key, at);
    this.served.set(key, known);
    return known;
  }

  private async serve(key: string, at: number): Promise<Served> {
    const outcome = await this.offers.outcomeOf(at);
    if (outcome === null) return null;
    if ('error' in outcome) return { fault: outcome.error.message };
    return { offer: { key, ...(await this.read(outcome.delivery)) } };
  }

  private async read({ plan, manifest, parts }: Delivery) {
    const read = await Promise.all(
      parts.map((part, at) => this.partOf(part, manifest.parts[at]?.parameters ?? null)),
    );
    return { isComposite: plan.kind === 'composite', parts: new Map(read.map((part) => [part.name, part])) };
  }

  private async partOf({ plan, scopes }: DeliveryPart, given: ManifestParameters | null) {
    const { name, tag, files: all, filesBesideParameters } = plan;
    const repository = { kind: 'configurations', name } as const;
    const files = given === null ? all : filesBesideParameters;
    const infos = await this.fleet.store.fileInfos(repository, files);
    const merged = given && (await this.parameters.merge(name, given.refs, given.way));
    const part: Part = {
      ...{ name, version: tag.version },
      files: new Map(files.map(({ path }, at) => [path, infos[at]?.sha256 ?? ''])),
      parameters: merged && (parseParameterDocument(merged.bytes, 'yaml') as Mapping),
      scopes: new Map(
        scopes.map(({ scopeTypeName, scopeValue, file }) => [
          scopeName({ name: scopeTypeName, value: scopeValue }),
          file.version,
        ]),
      ),
      ...{ secrets: await this.secretsOf(plan), unread: new Map() },
    };
    return part;
  }

  /** What the entry point declares secure; all where it cannot be read. */
  private secretsOf({ name, entryPoint, files }: DeliveryPart['plan']): Promise<SecretNames> {
    const oid = files.find(({ path }) => path === entryPoint)?.oid ?? '';
    const known = this.secrets.get(oid) ?? this.readSecrets(name, oid);
    this.secrets.set(oid, known);
    return known;
  }

  private async readSecrets(name: string, oid: string): Promise<SecretNames> {
    const bytes = await this.fleet.store.blob({ kind: 'configurations', name }, oid);
    const load = async () => bytes;
    const { declared } = await this.entryPoints.read({ oid, caller: 'check', load });
    return secretsIn([declared]);
  }
}
