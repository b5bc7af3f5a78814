/** Writes ZIP archives field by field, also with values that no correct program writes. */

import { crc32, deflateRawSync } from 'node:zlib';

/** One entry of a ZIP. Missing fields get the values that a correct program writes. */
export interface ZipEntry {
  name: string | Buffer;
  content?: Buffer | string;
  flags?: number;
  method?: number;
  attributes?: number;
  madeBy?: number;
  crc?: number;
  declaredSize?: number;
  extra?: Buffer;
  descriptor?: boolean;
}

/** The general purpose flag which says that the name is UTF-8. */
export const UTF8 = 0x800;

/** The external attributes of an entry that was made on Unix with this mode. */
export const unixMode = (mode: number) => (mode << 16) >>> 0;

export function makeZip(entries: ZipEntry[], options: { count?: number; comment?: string } = {}): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const made of entries) {
    const name = Buffer.from(made.name as string);
    const content = Buffer.from((made.content ?? '') as string);
    const method = made.method ?? 8;
    const data = method === 8 ? deflateRawSync(content) : content;
    const extra = made.extra ?? Buffer.alloc(0);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE((made.flags ?? UTF8) | (made.descriptor ? 8 : 0), 2);
    fields.writeUInt16LE(method, 4);
    fields.writeUInt32LE(made.crc ?? crc32(content), 10);
    fields.writeUInt32LE(data.length, 14);
    fields.writeUInt32LE(made.declaredSize ?? content.length, 18);
    fields.writeUInt16LE(name.length, 22);
    fields.writeUInt16LE(extra.length, 24);
    const local = Buffer.from(fields);
    if (made.descriptor) local.fill(0, 10, 22);
    local.writeUInt16LE(0, 24);
    const descriptor = made.descriptor
      ? Buffer.concat([Buffer.from('PK\x07\x08', 'latin1'), fields.subarray(10, 22)])
      : Buffer.alloc(0);
    const body = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), local, name, data, descriptor]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(made.attributes ?? 0, 6);
    tail.writeUInt32LE(offset, 10);
    const madeBy = Buffer.alloc(2);
    madeBy.writeUInt16LE((made.madeBy ?? 3) << 8);
    directory.push(Buffer.from('PK\x01\x02', 'latin1'), madeBy, fields, tail, name, extra);
    bodies.push(body);
    offset += body.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(options.count ?? entries.length, 8);
  end.writeUInt16LE(options.count ?? entries.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  end.writeUInt16LE((options.comment ?? '').length, 20);
  return Buffer.concat([...bodies, central, end, Buffer.from(options.comment ?? '')]);
}
