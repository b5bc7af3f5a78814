/** Reads the body that a route asks for: within its limits, and within what all bodies together may hold. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { sourceOf } from '../lib/source-address.ts';
import type { Principal } from '../security/principal.ts';
import { decodeJson, hasBody, parseJson, readDocument, readForm, readJsonBytes } from './body.ts';
import { BodyBudget, type BodySender, type BodyShare } from './body-budget.ts';
import { clientOf } from './connections.ts';
import type { BodySpec } from './route.ts';
import { openBody } from './stream-body.ts';
import { uploadPlaces } from './upload-body.ts';
import { readUpload, type Upload } from './uploads.ts';
import { validate } from './validation.ts';

export interface RequestLimits {
  jsonBytes: number;
  reportBytes: number;
  uploadBytes: number;
  uploadFiles: number;
}

/** A body as the route's schema gives it, with what else came in it. */
export type ReadBody = { body: unknown } & Pick<Upload, 'files' | 'file'>;

export const NO_BODY: ReadBody = { body: undefined, files: [], file: null };

interface BodySource {
  request: IncomingMessage;
  response: ServerResponse;
  principal: Principal | null;
  /** Aborted when the exchange is over. */
  over(): AbortSignal;
}

export class BodyReader {
  private readonly limits: RequestLimits;
  private readonly budget: BodyBudget;
  private readonly uploads = uploadPlaces();

  constructor(limits: RequestLimits) {
    this.limits = limits;
    this.budget = new BodyBudget(Math.max(limits.jsonBytes, limits.reportBytes));
  }

  /** @throws HawserError for a body that is refused, too large, too slow or not what the schema says */
  async read(spec: BodySpec<unknown>, source: BodySource): Promise<ReadBody> {
    const { request } = source;
    if (spec.kind === 'stream') {
      const stream = openBody(request, { ...spec, over: source.over() });
      return { ...NO_BODY, body: validate(spec.schema, stream, 'body') };
    }
    if (spec.kind === 'upload') return this.readForm(spec, source);
    let share: BodyShare | undefined;
    try {
      share = this.budget.open(senderOf(source));
      return await this.readWhole(spec, request, share);
    } catch (error) {
      // Of what is being sent still nothing is read any more, so nothing else can come by the connection.
      if (share === undefined || request.isPaused()) source.response.shouldKeepAlive = false;
      throw error;
    } finally {
      share?.close();
    }
  }

  private async readWhole(
    spec: Exclude<BodySpec<unknown>, { kind: 'stream' | 'upload' }>,
    request: IncomingMessage,
    share: BodyShare,
  ): Promise<ReadBody> {
    const { limits } = this;
    if (spec.kind === 'form')
      return { ...NO_BODY, body: validate(spec.schema, await readForm(request, share), 'form') };
    if (spec.kind === 'document') {
      const document = await readDocument(request, spec.mediaTypes, { limit: limits.jsonBytes, share });
      return { ...NO_BODY, body: validate(spec.schema, document, 'body') };
    }
    if (spec.kind === 'json' && spec.isOptional && !hasBody(request))
      return { ...NO_BODY, body: validate(spec.schema, {}, 'body') };
    if (spec.kind === 'jsonBytes') {
      const bytes = await readJsonBytes(request, { limit: limits[spec.limit], share });
      return { ...NO_BODY, body: validate(spec.schema, bytes, 'body') };
    }
    const text = decodeJson(await readJsonBytes(request, { limit: limits.jsonBytes, share }));
    return { ...NO_BODY, body: validate(spec.schema, parseJson(text), 'body') };
  }

  private async readForm(
    spec: Extract<BodySpec<unknown>, { kind: 'upload' }>,
    { request, principal, over }: BodySource,
  ): Promise<ReadBody> {
    const { limits } = this;
    // Routes that take uploads are for users alone.
    const userId = principal?.kind === 'user' ? principal.userId : '';
    const bytes = Math.min(limits.uploadBytes, spec.file?.bytes ?? limits.uploadBytes);
    const { fields, files, file } = await readUpload(
      request,
      { bytes, files: spec.file ? 1 : limits.uploadFiles },
      { fields: spec.fields, file: spec.file?.name },
      { places: this.uploads, userId, over: over() },
    );
    return { ...NO_BODY, body: validate(spec.schema, Object.fromEntries(fields), 'form'), files, file };
  }
}

function senderOf({ request, principal }: BodySource): BodySender {
  if (principal === null) return { key: `from ${sourceOf(clientOf(request).address)}`, isKnown: false };
  return { key: principal.kind === 'user' ? principal.userId : principal.node.nodeId, isKnown: true };
}
