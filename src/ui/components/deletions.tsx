/** Dialogs that delete a configuration or composite, or a draft of one. */

import { send } from '../client.ts';
import { apiOf, apiPath, type Kind, links } from '../links.ts';
import { forget } from '../resource.ts';
import { usePlace } from '../router.ts';
import { DeedDialog } from './dialog.tsx';

interface DraftProps {
  kind: Kind;
  name: string;
  version: string;
  /** That of the draft that is shown; without it any state of the draft goes. */
  etag?: string | null;
  /** Called when the draft is gone, before the page is read anew. */
  onDeleted?: () => void;
  onClose: () => void;
}

export function DeleteDraftDialog({ kind, name, version, etag = null, onDeleted, onClose }: DraftProps) {
  const path = apiOf(kind, name, 'versions', version);
  const run = async () => {
    await send('DELETE', path, undefined, { ifMatch: etag });
    forget(path);
    onDeleted?.();
    return `The draft ${version} is deleted.`;
  };
  return (
    <DeedDialog heading={`Delete the draft ${version}`} deed="Delete" isDanger run={run} onClose={onClose}>
      <p>Its content goes with it, and cannot be brought back. Published versions stay.</p>
    </DeedDialog>
  );
}

/** Deletes all of it, and leads to the list. */
export function DeleteDialog({ kind, name, onClose }: { kind: Kind; name: string; onClose: () => void }) {
  const place = usePlace();
  const isComposite = kind === 'composites';
  const path = apiOf(kind, name);
  const run = async () => {
    await send('DELETE', path);
    for (const gone of [path, `/fleet${apiPath('configurations', name)}`]) forget(gone);
    place.go(links.list(kind));
    return `${name} is deleted.`;
  };
  return (
    <DeedDialog heading={`Delete ${name}`} deed="Delete" isDanger run={run} onClose={onClose}>
      <p>
        All its versions{isComposite ? '' : ', parameters'} and permissions go with it, and cannot be brought
        back.{' '}
        {isComposite
          ? 'Its children stay. It cannot be deleted while it is assigned to a node.'
          : 'It cannot be deleted while it is assigned to a node or is part of a composite.'}
      </p>
    </DeedDialog>
  );
}
