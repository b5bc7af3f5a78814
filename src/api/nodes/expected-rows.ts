/** Rows of nodes that are expected, as a bulk deed has them: as JSON, or as lines of CSV. */

import type { ExpectedRow, NamedTag } from '../../deeds/expect-nodes.ts';
import { readCsv } from '../../domain/csv.ts';
import { refuseNul } from '../../http/stored-text.ts';
import { validate } from '../../http/validation.ts';
import { HawserError, invalidField } from '../../lib/errors.ts';
import { Pace } from '../../lib/pace.ts';
import { MAX_TAGS } from '../shared/given-schemas.ts';
import { MAX_NODES } from './bulk-schemas.ts';
import { ExpectedNode } from './schemas.ts';

const COLUMNS = ['fqdn', 'configuration', 'isComposite', 'majorVersion', 'tags'] as const;

/** So much of a name that is none the answer repeats. */
const MAX_SHOWN = 253;

/** A line of CSV, whose cells are judged as those of JSON are: one that is at fault stops none of the others. */
class Line {
  readonly cells: Readonly<Record<(typeof COLUMNS)[number], string>>;

  constructor(cells: Line['cells']) {
    this.cells = cells;
  }
}

/**
 * The body that a file of CSV stands for.
 * @throws HawserError invalid for what is no CSV, or has other columns
 */
export async function bodyOfCsv(text: string): Promise<object> {
  // One row more than there may be, so that more are refused as those of JSON are.
  const { lines, fault } = await readCsv(text, MAX_NODES + 2);
  if (fault !== null) throw invalidField('', fault, 'malformed_csv');
  const [header = [], ...rest] = lines;
  const columns = header.map((name) => name.trim());
  const isWhole = COLUMNS.every((name) => columns.includes(name)) && columns.length === COLUMNS.length;
  if (!isWhole)
    throw invalidField('', `The first line must name these columns: ${COLUMNS.join(',')}`, 'malformed_csv');
  const rows = rest.map((cells, at) => {
    if (cells.length !== COLUMNS.length)
      throw invalidField(
        '',
        `Row ${at + 1} has ${cells.length} cells, and not ${COLUMNS.length}`,
        'malformed_csv',
      );
    return new Line(
      Object.fromEntries(
        columns.map((name, column) => [name, (cells[column] ?? '').trim()]),
      ) as Line['cells'],
    );
  });
  return { action: 'Expect', rows };
}

/** Reads all rows, with pauses for others. */
export async function readRows(rows: readonly unknown[]): Promise<ExpectedRow[]> {
  const read: ExpectedRow[] = [];
  const pace = new Pace();
  for (const row of rows) {
    read.push(readRow(row));
    if (pace.isDue) await pace.rest();
  }
  return read;
}

/** Reads a row. One that is no node is refused when its turn comes. */
function readRow(row: unknown): ExpectedRow {
  const name = row instanceof Line ? row.cells.fqdn : (row as { fqdn?: unknown } | null)?.fqdn;
  const fqdn = typeof name === 'string' ? name.slice(0, MAX_SHOWN) : null;
  try {
    const tags = row instanceof Line ? tagsOf(row.cells.tags) : [];
    const wanted = validate(ExpectedNode, row instanceof Line ? membersOf(row) : row, 'row');
    refuseNul([wanted, tags]);
    return { fqdn, wanted, tags, fault: null };
  } catch (error) {
    if (!(error instanceof HawserError)) throw error;
    return { fqdn, wanted: null, tags: [], fault: error };
  }
}

/** The members of JSON that say the same. An empty cell says nothing. */
function membersOf({ cells: { fqdn, configuration, isComposite, majorVersion } }: Line): object {
  if (configuration === '') {
    if (isComposite !== '' || majorVersion !== '')
      throw invalidField(
        '/configuration',
        'isComposite and majorVersion say more of a configuration: name one',
      );
    return { fqdn };
  }
  const assignment = {
    configurationName: configuration,
    isComposite: isComposite === '' ? null : (FLAGS[isComposite.toLowerCase()] ?? isComposite),
    majorVersion:
      majorVersion === '' ? null : /^\d{1,9}$/.test(majorVersion) ? Number(majorVersion) : majorVersion,
  };
  return { fqdn, assignment };
}

const FLAGS: Readonly<Record<string, boolean>> = { true: true, false: false };

function tagsOf(cell: string): NamedTag[] {
  if (cell === '') return [];
  const texts = cell.split(';', MAX_TAGS + 1);
  if (texts.length > MAX_TAGS) throw invalidField('/tags', `A node has at most ${MAX_TAGS} tags`);
  return texts.map((text) => {
    const [type = '', value = '', ...more] = text.split('=').map((part) => part.trim());
    if (type === '' || value === '' || more.length > 0)
      throw invalidField('/tags', 'Tags are written as Type=value;Type=value');
    return { type, value };
  });
}
