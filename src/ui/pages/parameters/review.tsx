/** The review of a saved draft: what it changes, whom that touches, and publishing. */

import { send } from '../../client.ts';
import { AddToChange } from '../../components/add-to-change.tsx';
import { DiffModeChoice } from '../../components/diff-mode.tsx';
import { PreviewImpact } from '../../components/preview.tsx';
import { PublishBox, ReviewLayout } from '../../components/review.tsx';
import { Changes } from './changes.tsx';
import { type FileData, type FileName, versionPath } from './file-data.ts';
import { levelOf, mayChange, scopeLabel } from './model.ts';
import type { Draft } from './use-draft.ts';

interface ReviewProps {
  named: FileName;
  data: FileData;
  draft: Draft;
}

const UNSAVED = 'There are changes that are not saved. Save them first.';

export function ReviewPart({ named, data, draft }: ReviewProps) {
  const { name, scopeTypeName, scopeValue, version } = named;
  const changes = [
    { kind: 'PublishParameters' as const, configurationName: name, scopeTypeName, scopeValue, version },
  ];
  const publish = async (message: string) => {
    const path = versionPath(data.path ?? '', named, '/publish');
    const body = message === '' ? {} : { message };
    await send('PUT', path, body, { ifMatch: draft.base.etag });
    return `${scopeLabel(named)} ${version} is published. Nodes get it at their next poll.`;
  };
  return (
    <ReviewLayout
      changes={
        <>
          <DiffModeChoice />
          <Changes {...{ named, data }} etag={draft.base.etag} />
        </>
      }
      check={null}
      configurationName={null}
      impact={<PreviewImpact changes={changes} reason={draft.isDirty ? UNSAVED : null} />}
      publish={
        <>
          <PublishBox
            version={version}
            reason={reasonOf(data, draft)}
            run={publish}
            // The page goes on with the published version. The button is gone, and with it the place of the keyboard.
            onPublished={() => document.getElementById('main')?.focus()}
            onReload={async () => {
              await data.file.reload();
              draft.takeTheirs();
            }}
          />
          <AddToChange
            title={`Publish ${name} ${scopeLabel(named)} ${version}`}
            deeds={() => changes}
            reason={draft.isDirty ? UNSAVED : null}
          />
        </>
      }
    />
  );
}

function reasonOf(data: FileData, draft: Draft): string | null {
  if (!mayChange(data)) {
    const held = levelOf(data) ?? 'no grant';
    return `You may not publish. That needs Modify on the parameters; you have ${held}.`;
  }
  if (draft.isDirty) return UNSAVED;
  return draft.isOld ? 'Somebody else has saved this draft meanwhile. Look at it first.' : null;
}
