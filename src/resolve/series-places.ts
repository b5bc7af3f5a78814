/** Finds where the encrypted texts of a parameter file open. */

import type { Database } from '../db/database.ts';
import type { ReadingDatabase } from '../db/reading.ts';
import {
  type FoundSeries,
  findSeriesPlace,
  type NamedSeries,
  readingSeriesPlace,
} from '../db/series-places.ts';
import { NODE_SCOPE_TYPE } from '../domain/scopes.ts';
import { type Awaitable, andThen } from '../lib/awaitable.ts';
import { scopeOf } from '../versions/parameter-files.ts';
import type { SeriesPlace } from './document-source.ts';

/** An owner that nobody has. What is bound to it opens for nobody else. */
const NO_OWNER = 'none';
const MAX_KNOWN = 10_000;

export class SeriesPlaces {
  private readonly find: (named: NamedSeries) => Awaitable<FoundSeries | undefined>;
  private readonly generationOf: () => number;
  /** Places that hold in this generation. The node of a name may become another one in the same generation. */
  private readonly known = new Map<string, SeriesPlace>();
  private generation = -1;

  /** @param generationOf rises where names may have other ids */
  constructor(find: SeriesPlaces['find'], generationOf: () => number = () => 0) {
    this.find = find;
    this.generationOf = generationOf;
  }

  /** The place of the files of a scope, by the name that `seriesOf` gives. Where ids are missing it is nobody's. */
  of(configurationName: string, series: string): Awaitable<SeriesPlace> {
    const generation = this.generationOf();
    if (this.generation !== generation || this.known.size > MAX_KNOWN) this.known.clear();
    this.generation = generation;
    const key = `${configurationName} ${series}`;
    const known = this.known.get(key);
    if (known) return known;
    const { scopeType, value: scopeValue } = scopeOf(series);
    return andThen(this.find({ configurationName, scopeType, scopeValue }), (found) => {
      const place = toPlace(found, scopeValue);
      const isKnown = place.ownerId !== NO_OWNER && place.configurationId !== NO_OWNER;
      if (isKnown && scopeType !== NODE_SCOPE_TYPE && this.generation === generation)
        this.known.set(key, place);
      return place;
    });
  }
}

function toPlace(found: FoundSeries | undefined, scopeValue: string | null): SeriesPlace {
  const { configurationId = NO_OWNER, scopeTypeId = NO_OWNER, ownerId = null } = found ?? {};
  return { configurationId, scopeTypeId, ownerId: scopeValue === null ? '' : (ownerId ?? NO_OWNER) };
}

export function placesIn({ read, changes }: Pick<Database, 'read' | 'changes'>): SeriesPlaces {
  return new SeriesPlaces(
    (named) => findSeriesPlace(read, named),
    () => changes.generation,
  );
}

export function placesRead(database: Pick<ReadingDatabase, 'read' | 'changes'>): SeriesPlaces {
  return new SeriesPlaces(
    (named) => database.read(readingSeriesPlace(named)),
    () => database.changes.generation,
  );
}
