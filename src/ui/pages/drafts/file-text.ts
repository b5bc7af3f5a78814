/** The text of a file of a draft as it is on the server now. */

import { useEffect, useState } from 'preact/hooks';
import { type Resource, useResource } from '../../resource.ts';

/** Larger files are not edited here. The API compares none that are larger either. */
export const MAX_SIZE = 1024 * 1024;
/** A file with a NUL in so many bytes is binary, as for Git and for the API. */
const LOOKED_AT = 8_000;

export interface ServerFile {
  /** Null where the file is no text. */
  text: string | null;
  etag: string | null;
}

export interface ReadFile {
  /** Null until it is read, and when it is not there any more. */
  file: ServerFile | null;
  resource: Resource<Blob>;
}

/** @param address below /api/v1; null: it is not read */
export function useFileText(address: string | null): ReadFile {
  const resource = useResource<Blob>(address, { isRaw: true, accept: '*/*' });
  const { data, etag } = resource;
  const [read, setRead] = useState<{ file: ServerFile; address: string } | null>(null);
  useEffect(() => {
    if (data === null || address === null) {
      setRead(null);
      return undefined;
    }
    let isCurrent = true;
    void data.arrayBuffer().then((buffer) => {
      if (isCurrent) setRead({ file: { text: textOf(new Uint8Array(buffer)), etag }, address });
    });
    return () => {
      isCurrent = false;
    };
  }, [data, etag, address]);
  // While new bytes become text, the text before stays. That of another file does not.
  return { file: read !== null && read.address === address ? read.file : null, resource };
}

/** Bytes that would not be the same again when they are saved are no text. */
function textOf(bytes: Uint8Array): string | null {
  if (bytes.subarray(0, LOOKED_AT).includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
