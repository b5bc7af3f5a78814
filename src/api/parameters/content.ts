/** The content of a parameter file as it comes in: which of the two types, and whether it can be read at all. */

import { refuse } from '../../domain/document-text.ts';
import type { DocumentType } from '../../domain/parameter-document.ts';
import type { NamedFile } from '../../http/uploads.ts';
import { type FieldError, HawserError, invalid } from '../../lib/errors.ts';
import type { DocumentSource } from '../../resolve/document-tasks.ts';
import { type Documents, newSource } from '../../resolve/documents.ts';

/** As answers name the types. */
export const MEDIA_TYPES = { yaml: 'application/yaml', json: 'application/json' } as const;

/** A document that can be read, with the very bytes that are kept. */
export interface ReadContent {
  type: DocumentType;
  bytes: Buffer;
  document: DocumentSource;
}

/** Reads content in the turn of whoever sent it. */
export interface ContentReader {
  documents: Documents;
  /** The user's id. */
  caller: string;
}

/** RFC 9512 and the names that it replaces, RFC 8259, and short ones. */
const NAMES: ReadonlyMap<string, DocumentType> = new Map([
  ['yaml', 'yaml'],
  ['application/yaml', 'yaml'],
  ['application/x-yaml', 'yaml'],
  ['text/yaml', 'yaml'],
  ['text/x-yaml', 'yaml'],
  ['json', 'json'],
  ['application/json', 'json'],
  ['text/json', 'json'],
]);

/** Looks without regard to case and to parameters such as a charset, as all content is UTF-8; null for others. */
export function contentTypeNamed(mediaType: string): DocumentType | null {
  const [name = ''] = mediaType.split(';', 1);
  return NAMES.get(name.trim().toLowerCase()) ?? null;
}

/**
 * Content that came as text.
 * @throws HawserError `validation_failed`, its one error naming line and column, or `too_complex`
 */
export function readText(reader: ContentReader, text: string, type: DocumentType): Promise<ReadContent> {
  return pointingTo('/content', () => {
    // Written as UTF-8 it would become something else.
    const lone = text.search(/\p{Surrogate}/u);
    if (lone >= 0) refuse(text, lone, 'invalid_text', 'The text holds half of a surrogate pair.');
    return read(reader, Buffer.from(text), type);
  });
}

/** As `readText`, of a file. It is YAML unless its name, or else its media type, says JSON. */
export function readFile(
  reader: ContentReader,
  part: string,
  { filename, mediaType, content }: NamedFile,
): Promise<ReadContent> {
  const [, extension] = /\.(json|ya?ml)$/i.exec(filename) ?? [];
  const named = extension?.toLowerCase().replace('yml', 'yaml') ?? mediaType ?? '';
  return pointingTo(`/${part}`, () => read(reader, content, contentTypeNamed(named) ?? 'yaml'));
}

async function read(
  { documents, caller }: ContentReader,
  bytes: Buffer,
  type: DocumentType,
): Promise<ReadContent> {
  const document = newSource(bytes, type);
  await documents.run(caller, 'readDocument', { document });
  return { type, bytes, document };
}

/** A fault of the text itself has no place in the document, so it is told of the member that holds the text. */
async function pointingTo<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HawserError) || error.kind !== 'invalid') throw error;
    const errors = (error.data['errors'] ?? []) as FieldError[];
    throw invalid(
      error.code,
      error.message,
      errors.map((fault) => ({ ...fault, path: path + fault.path })),
    );
  }
}
