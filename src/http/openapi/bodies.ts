/** What an operation takes: JSON, a form with or without files, a document, or a stream of bytes. */

import type { BodySpec, UploadBody } from '../route.ts';
import type { Components, JsonSchema } from './components.ts';

type Body = BodySpec<unknown>;

export function requestBodyOf(body: Body, components: Components): JsonSchema {
  const isOptional = body.kind === 'json' && body.isOptional === true;
  return { ...(isOptional ? {} : { required: true }), content: contentOf(body, components) };
}

function contentOf(body: Body, components: Components): JsonSchema {
  switch (body.kind) {
    case 'json':
      return { 'application/json': { schema: components.convert(body.schema, 'input') } };
    case 'jsonBytes':
      return { 'application/json': { schema: components.convert(body.described, 'input') } };
    case 'form':
      return { 'application/x-www-form-urlencoded': { schema: components.convert(body.schema, 'input') } };
    case 'upload':
      return { 'multipart/form-data': { schema: formOf(body, components) } };
    case 'document':
      return Object.fromEntries(body.mediaTypes.map((mediaType) => [mediaType, { schema: {} }]));
    case 'stream':
      return { [body.mediaType]: {} };
  }
}

const BYTES = { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' };

/** The fields and, beside them, either the one file that the route names, or any number of files, or an archive. */
function formOf(body: UploadBody<unknown>, components: Components): JsonSchema {
  const form = components.convert(body.schema, 'input');
  const fields = (form['properties'] ?? {}) as JsonSchema;
  const required = (form['required'] ?? []) as string[];
  if (body.file !== undefined) {
    const file = { ...BYTES, description: `At most ${body.file.bytes} bytes` };
    const properties = { ...fields, [body.file.name]: file };
    return { ...form, properties, required: [...required, body.file.name] };
  }
  const files = {
    type: 'array',
    items: BYTES,
    description: 'One part per file, whose filename is the relative path',
  };
  const archive = { ...BYTES, description: 'A ZIP of all files, in place of `files`' };
  return { ...form, properties: { ...fields, files, archive } };
}
