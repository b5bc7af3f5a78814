/** What can be done with one scope type. */

import { useState } from 'preact/hooks';
import { send } from '../../client.ts';
import { DeedButton } from '../../components/dialog.tsx';
import { apiPath } from '../../links.ts';
import type { ScopeType } from '../../types.ts';
import { DeleteDialog, DescriptionDialog, RenameDialog } from './deeds.tsx';

export function TypeDeeds({ type }: { type: ScopeType }) {
  const [asked, setAsked] = useState<'rename' | 'description' | 'delete' | null>(null);
  const path = apiPath('scope-types', type.id);
  const close = () => setAsked(null);
  if (type.isSystem) return <Switch type={type} path={path} />;
  return (
    <span class="row-deeds">
      <button type="button" class="small" onClick={() => setAsked('rename')}>
        Rename
      </button>
      <button type="button" class="small" onClick={() => setAsked('description')}>
        Edit description
      </button>
      <button type="button" class="small" onClick={() => setAsked('delete')}>
        Delete
      </button>
      {asked === 'rename' && <RenameDialog path={path} called={type.name} before={type} onClose={close} />}
      {asked === 'description' && (
        <DescriptionDialog path={path} called={type.name} before={type.description} onClose={close} />
      )}
      {asked === 'delete' && (
        <DeleteDialog
          path={path}
          called={type.name}
          onClose={close}
          note="Its values go with it. A type whose values are in use cannot be deleted."
        />
      )}
    </span>
  );
}

/** Default and Node can be kept out of merging. */
function Switch({ type: { name, isEnabled }, path }: { type: ScopeType; path: string }) {
  const run = async () => {
    await send('PATCH', `${path}/${isEnabled ? 'disable' : 'enable'}`);
    return isEnabled ? `${name} has no part in merging any more.` : `${name} has a part in merging again.`;
  };
  return (
    <DeedButton
      key={String(isEnabled)}
      deed={isEnabled ? 'Switch off' : 'Switch on'}
      run={run}
      class="small"
    />
  );
}
